/*
 * The reference tick: a fixed amount of the arithmetic that a hand's tick is made of, in plain C.
 *
 * It is a yardstick, not a controller. What it does for each of `channels` channels (motor with tendon, spring and
 * sensor), for each finger of eight channels and for each hand of forty is the list that the tick of a 38-channel
 * hand was measured with (docs/real_time.md): two Hermite tables and three polynomials of degree five, one arctangent,
 * four sines, a transformed norm, a filter; pseudo-inverse, residual, joint torques and a 4 x 4 Cholesky solution;
 * five Gauss-Newton iterations of four lengths over two unknowns; force loop, clips, safety counts; and the copy of
 * the frame into a ring. `channels` scales it to the instruction count of the tick that it is compared with.
 *
 * No fast-math, no contraction: the same IEEE arithmetic that the compiled laws use.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_DUMP_STATS
#endif

enum { CAPACITY = 1024, NODES = 192, FINGER = 8, JOINTS = 4, HAND = 40, INPUTS = 64 };

struct reference {
    int64_t tick, clips, alarms;
    double lever_min, lever_scale, filter, limit;
    double rotation[9], offset[3];
    double force[NODES], force_slope[NODES], path[NODES], path_slope[NODES];
    double poly[3][6];
    double pinv[JOINTS][FINGER], P[FINGER][JOINTS];
    double stiffness[JOINTS], damping[JOINTS];
    double input[INPUTS][CAPACITY];
    double lever[CAPACITY], angle[CAPACITY], speed[CAPACITY], tension[CAPACITY], length[CAPACITY];
    double point[CAPACITY][3], amplitude[CAPACITY][4], phase[CAPACITY][4];
    double ripple[CAPACITY], friction[CAPACITY], wanted[CAPACITY], torque[CAPACITY], last[CAPACITY];
    double thumb[CAPACITY / HAND + 1][2];
    uint64_t *slots;
    uint64_t head;
    size_t n_slots, frame_words;
    uint64_t *frame;
};

static double hermite(const double *value, const double *slope, double x)
{
    double at = x < 0.0 ? 0.0 : (x > NODES - 1.001 ? NODES - 1.001 : x);
    int i = (int)at;
    double t = at - i, t2 = t * t, t3 = t2 * t;
    return (2.0 * t3 - 3.0 * t2 + 1.0) * value[i] + (t3 - 2.0 * t2 + t) * slope[i] +
           (3.0 * t2 - 2.0 * t3) * value[i + 1] + (t3 - t2) * slope[i + 1];
}

static double polynomial(const double *c, double x)
{
    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * c[5]))));
}

static void sense(struct reference *r, const double *input, int i)
{
    double lever = (input[i] - r->lever_min) * r->lever_scale;
    double angle = 0.01 * lever + polynomial(r->poly[0], 0.01 * input[i]);
    double raw = angle - r->angle[i];
    double p[3];
    r->angle[i] = angle;
    r->speed[i] += r->filter * (raw - r->speed[i]);
    r->tension[i] = hermite(r->force, r->force_slope, lever) + polynomial(r->poly[1], 0.01 * lever);
    for (int k = 0; k < 3; k++)
        p[k] = r->rotation[3 * k] * r->point[i][0] + r->rotation[3 * k + 1] * r->point[i][1] +
               r->rotation[3 * k + 2] * r->point[i][2] + r->offset[k];
    r->length[i] = hermite(r->path, r->path_slope, lever) + polynomial(r->poly[2], 0.01 * lever) +
                   sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    r->lever[i] = lever;
}

static void feedforward(struct reference *r, int i)
{
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
        sum += r->amplitude[i][k] * sin((k + 1) * r->angle[i] + r->phase[i][k]);
    r->ripple[i] = sum;
    r->friction[i] = 0.05 * atan(40.0 * r->speed[i]) + 0.01 * r->speed[i];
}

static void cholesky_solve(double A[JOINTS][JOINTS], double b[JOINTS])
{
    for (int i = 0; i < JOINTS; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = A[i][j];
            for (int k = 0; k < j; k++)
                sum -= A[i][k] * A[j][k];
            A[i][j] = i == j ? sqrt(sum) : sum / A[j][j];
        }
    }
    for (int i = 0; i < JOINTS; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= A[i][k] * b[k];
        b[i] /= A[i][i];
    }
    for (int i = JOINTS - 1; i >= 0; i--) {
        for (int k = i + 1; k < JOINTS; k++)
            b[i] -= A[k][i] * b[k];
        b[i] /= A[i][i];
    }
}

static void finger(struct reference *r, int first)
{
    double q[JOINTS], tau[JOINTS], A[JOINTS][JOINTS];
    for (int j = 0; j < JOINTS; j++) {
        double angle = 0.0, measured = 0.0;
        for (int t = 0; t < FINGER; t++) {
            angle += r->pinv[j][t] * r->length[first + t];
            measured -= r->P[t][j] * r->tension[first + t];
        }
        q[j] = angle;
        tau[j] = -r->stiffness[j] * angle - r->damping[j] * r->speed[first + j] - 0.1 * measured;
    }
    for (int t = 0; t < FINGER; t++) {
        double rest = r->length[first + t];
        for (int j = 0; j < JOINTS; j++)
            rest -= r->P[t][j] * q[j];
        r->alarms += rest > 1e3;
    }
    for (int i = 0; i < JOINTS; i++)
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? 1e-6 : 0.0;
            for (int t = 0; t < FINGER; t++)
                sum += r->P[t][i] * r->P[t][j];
            A[i][j] = sum;
        }
    cholesky_solve(A, tau);
    for (int t = 0; t < FINGER; t++) {
        double force = 20.0;
        for (int j = 0; j < JOINTS; j++)
            force -= r->P[t][j] * tau[j];
        r->wanted[first + t] = force < 3.0 ? 3.0 : (force > 120.0 ? 120.0 : force);
    }
}

static void thumb(struct reference *r, int first, double *x)
{
    for (int iteration = 0; iteration < 5; iteration++) {
        double a = 0.0, b = 0.0, c = 0.0, g = 0.0, h = 0.0;
        double sx = sin(x[0]), cx = cos(x[0]), sy = sin(x[1]), cy = cos(x[1]);
        for (int t = 0; t < 4; t++) {
            double dx = r->point[first + t][0] * cx - sy, dy = r->point[first + t][1] * sx + cy;
            double dz = r->point[first + t][2] + 2.0;
            double length = sqrt(dx * dx + dy * dy + dz * dz);
            double u = (-dx * r->point[first + t][0] * sx + dy * r->point[first + t][1] * cx) / length;
            double v = (-dx * cy - dy * sy) / length;
            double e = length - 2.0 - 0.01 * r->length[first + t];
            a += u * u, b += u * v, c += v * v, g += u * e, h += v * e;
        }
        double determinant = (a + 1e-2) * (c + 1e-2) - b * b;
        x[0] -= ((c + 1e-2) * g - b * h) / determinant;
        x[1] -= ((a + 1e-2) * h - b * g) / determinant;
        x[0] = x[0] > 1.0 ? 1.0 : (x[0] < -1.0 ? -1.0 : x[0]);
        x[1] = x[1] > 1.0 ? 1.0 : (x[1] < -1.0 ? -1.0 : x[1]);
    }
}

static void guard(struct reference *r, int i)
{
    double torque = 0.002 * (r->wanted[i] - r->tension[i]) - 0.01 * r->speed[i] + r->friction[i] + r->ripple[i];
    double low = r->last[i] - 0.05, high = r->last[i] + 0.05;
    if (!isfinite(torque)) {
        torque = 0.0;
        r->alarms++;
    }
    double rated = torque < low ? low : (torque > high ? high : torque);
    double clipped = rated < -r->limit ? -r->limit : (rated > r->limit ? r->limit : rated);
    r->clips += clipped != torque;
    r->alarms += r->tension[i] > 250.0;
    r->alarms += fabs(r->speed[i]) > 50.0;
    r->alarms += r->lever[i] > NODES;
    r->torque[i] = r->last[i] = clipped;
}

static void leave(struct reference *r, int channels)
{
    uint64_t *slot = r->slots + (r->head % r->n_slots) * (r->frame_words + 1);
    size_t n = (size_t)channels < r->frame_words ? (size_t)channels : r->frame_words;
    memcpy(r->frame, r->torque, n * sizeof(double));
    __atomic_store_n(slot, 2 * r->head + 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy(slot + 1, r->frame, r->frame_words * sizeof(uint64_t));
    __atomic_store_n(slot, 2 * r->head + 2, __ATOMIC_RELEASE);
    r->head++;
}

/* The work of one tick over `channels` channels (at most CAPACITY): at its end the command is ready. */
static void reference_work(struct reference *r, int channels)
{
    const double *input = r->input[r->tick % INPUTS];
    for (int i = 0; i < channels; i++)
        sense(r, input, i);
    for (int first = 0; first + FINGER <= channels; first += FINGER)
        finger(r, first);
    for (int first = 0; first + HAND <= channels; first += HAND)
        thumb(r, first, r->thumb[first / HAND]);
    for (int i = 0; i < channels; i++)
        feedforward(r, i);
    for (int i = 0; i < channels; i++)
        guard(r, i);
}

/* What follows the command: the frame goes into the ring. */
static void reference_leave(struct reference *r, int channels)
{
    leave(r, channels);
    r->tick++;
}

/* One whole tick. */
void reference_tick(struct reference *r, int channels)
{
    reference_work(r, channels);
    reference_leave(r, channels);
}

static void fill_channels(struct reference *r)
{
    for (int i = 0; i < CAPACITY; i++) {
        for (int k = 0; k < 3; k++)
            r->point[i][k] = 0.1 * sin(3.0 * i + k);
        for (int k = 0; k < 4; k++) {
            r->amplitude[i][k] = 0.01 / (k + 1);
            r->phase[i][k] = 0.3 * i + k;
        }
        for (int n = 0; n < INPUTS; n++)
            r->input[n][i] = 2048.0 + 600.0 * sin(0.1 * i + 2.0 * M_PI * n / INPUTS);
    }
    for (int t = 0; t < FINGER; t++)
        for (int j = 0; j < JOINTS; j++) {
            r->P[t][j] = 0.01 * cos(1.7 * t + 2.3 * j);
            r->pinv[j][t] = 10.0 * r->P[t][j];
        }
}

/* A new state with a ring of n_slots frames of frame_words words; NULL without memory. All memory is touched. */
struct reference *reference_new(size_t n_slots, size_t frame_words)
{
    struct reference *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->n_slots = n_slots, r->frame_words = frame_words;
    r->frame = calloc(frame_words, sizeof(uint64_t));
    r->slots = malloc(n_slots * (frame_words + 1) * sizeof(uint64_t));
    if (!r->frame || !r->slots)
        return NULL;
    memset(r->slots, 1, n_slots * (frame_words + 1) * sizeof(uint64_t));
    r->lever_min = 1200.0, r->lever_scale = 0.1, r->filter = 0.2, r->limit = 1.0;
    r->rotation[0] = r->rotation[4] = r->rotation[8] = 1.0, r->offset[2] = 0.3;
    for (int k = 0; k < NODES; k++) {
        r->force[k] = 0.2 * k + 0.001 * k * k, r->force_slope[k] = 0.2 + 0.002 * k;
        r->path[k] = 1e-4 * k, r->path_slope[k] = 1e-4;
    }
    for (int k = 0; k < 6; k++)
        r->poly[0][k] = r->poly[1][k] = r->poly[2][k] = 1e-3 / (1.0 + k * k * k * k * k * k);
    for (int j = 0; j < JOINTS; j++)
        r->stiffness[j] = 2.0, r->damping[j] = 0.02;
    fill_channels(r);
    return r;
}

/* Sum over the results: keeps the work alive and shows that it is the same work everywhere. */
double reference_sum(const struct reference *r, int channels)
{
    double sum = (double)(r->clips % 1000 + r->alarms % 1000);
    for (int i = 0; i < channels; i++)
        sum += r->torque[i] + r->wanted[i];
    return sum;
}

int64_t reference_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Durations [ns] of n ticks in a row, or each after a sleep of sleep_ns if that is positive. */
void reference_durations(struct reference *r, int channels, int64_t n, int64_t sleep_ns, int64_t *out)
{
    for (int64_t k = 0; k < n; k++) {
        if (sleep_ns > 0) {
            struct timespec pause = {0, sleep_ns};
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        }
        int64_t begun = reference_clock();
        reference_tick(r, channels);
        out[k] = reference_clock() - begun;
    }
}

/* Callgrind writes what it counted since the last time, and counts from zero. */
void dump_counts(void)
{
    CALLGRIND_DUMP_STATS;
}
