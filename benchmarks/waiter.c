/*
 * Two loops without Python on the grid of runtime.loop: `wait` does nothing but wake up (as cyclictest does), `loop`
 * makes a reference tick after each wake-up. `count` makes ticks only, for callgrind.
 *
 *   waiter wait|loop CPU PRIORITY RATE_MHZ SLOTS WARMUP CHANNELS N_SLOTS FRAME_WORDS OUT
 *   waiter count CHANNELS TICKS N_SLOTS FRAME_WORDS
 *
 * OUT gets two int64 for each cycle after the warm-up: wake-up and command ready, both after the deadline [ns].
 * Stdout gets one JSON object; rights that were refused are in it.
 */
#define _GNU_SOURCE
#include "reference.c"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRID INT64_C(1000000000000)

static int64_t due(int64_t start, int64_t slot, int64_t rate_mhz)
{
    /* slot * GRID / rate without overflow: whole seconds apart */
    int64_t per = rate_mhz; /* slots in 1000 s */
    return start + slot / per * GRID + slot % per * GRID / per;
}

static int64_t slot_from(int64_t start, int64_t time, int64_t rate_mhz)
{
    int64_t since = time - start; /* first slot due at or after `time` */
    int64_t slot = since / GRID * rate_mhz + (int64_t)((__int128)(since % GRID) * rate_mhz / GRID);
    while (due(start, slot, rate_mhz) < time)
        slot++;
    return slot;
}

static int64_t sleep_until(int64_t deadline)
{
    struct timespec t = {deadline / INT64_C(1000000000), deadline % INT64_C(1000000000)};
    while (reference_clock() < deadline)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    return reference_clock();
}

static void touch_stack(void)
{
    volatile char stack[256 * 1024];
    for (size_t k = 0; k < sizeof stack; k += 4096)
        stack[k] = 1;
}

static int ask_rights(int cpu, int priority)
{
    int refused = 0, zero = 0;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (cpu >= 0 && sched_setaffinity(0, sizeof set, &set))
        refused |= 1;
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        refused |= 2;
    int latency = open("/dev/cpu_dma_latency", O_WRONLY); /* stays open */
    if (latency < 0 || write(latency, &zero, sizeof zero) != sizeof zero)
        refused |= 4;
    struct sched_param wanted = {.sched_priority = priority};
    if (priority > 0 && sched_setscheduler(0, SCHED_FIFO, &wanted))
        refused |= 8;
    touch_stack();
    return refused;
}

static int count_only(char **word)
{
    int channels = atoi(word[0]);
    struct reference *r = reference_new(strtoull(word[2], NULL, 10), strtoull(word[3], NULL, 10));
    if (!r)
        return 1;
    for (int64_t n = atoll(word[1]); n > 0; n--)
        reference_tick(r, channels);
    printf("{\"sum\": %.17g}\n", reference_sum(r, channels));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "count"))
        return count_only(argv + 2);
    if (argc != 11) {
        fprintf(stderr, "usage: see the head of waiter.c\n");
        return 2;
    }
    int with_tick = !strcmp(argv[1], "loop"), cpu = atoi(argv[2]), priority = atoi(argv[3]);
    int64_t rate_mhz = atoll(argv[4]), slots = atoll(argv[5]), warmup = atoll(argv[6]);
    int channels = atoi(argv[7]);
    struct reference *r = reference_new(strtoull(argv[8], NULL, 10), strtoull(argv[9], NULL, 10));
    int64_t *out = malloc((size_t)(slots + 1) * 2 * sizeof(int64_t));
    if (!r || !out || channels > CAPACITY || rate_mhz <= 0 || slots <= 0)
        return 1;
    memset(out, 0, (size_t)(slots + 1) * 2 * sizeof(int64_t));
    int refused = ask_rights(cpu, priority);
    for (int k = 0; k < 50; k++)
        reference_tick(r, channels);
    int64_t period = GRID / rate_mhz, start = reference_clock() + 2 * period;
    int64_t slot = 0, cycles = 0, late = 0, end = warmup + slots;
    int64_t kept = 0;
    while (slot < end) {
        int64_t deadline = due(start, slot, rate_mhz);
        int64_t woke = sleep_until(deadline);
        if (with_tick)
            reference_work(r, channels);
        int64_t done = reference_clock(); /* the command is ready; a real loop would send it now */
        if (with_tick)
            reference_leave(r, channels);
        int64_t over = reference_clock();
        if (slot >= warmup) {
            out[2 * kept] = woke - deadline, out[2 * kept + 1] = done - deadline;
            kept++, cycles++, late += woke - deadline >= period;
        }
        int64_t free_at = over > woke + period / 2 ? over : woke + period / 2;
        int64_t next = slot_from(start, free_at, rate_mhz);
        slot = next > slot + 1 ? next : slot + 1;
    }
    FILE *file = fopen(argv[10], "wb");
    if (!file || fwrite(out, 2 * sizeof(int64_t), (size_t)kept, file) != (size_t)kept || fclose(file))
        return 1;
    printf("{\"cycles\": %" PRId64 ", \"slots\": %" PRId64 ", \"late\": %" PRId64 ", \"refused\": %d, \"sum\": %.17g}\n",
           cycles, slot - warmup, late, refused, reference_sum(r, channels));
    return 0;
}
