#include "hb1.h"

#include <string.h>

uint16_t hb1_crc(const uint8_t *data, size_t n)
{
    uint16_t crc = 0xFFFFu;
    while (n--) {
        crc ^= (uint16_t)(*data++ << 8);
        for (int i = 0; i < 8; i++)
            crc = (uint16_t)((uint32_t)crc << 1 ^ ((crc & 0x8000u) ? 0x1021u : 0u));
    }
    return crc;
}

size_t hb1_cobs(const uint8_t *data, size_t n, uint8_t *wire)
{
    size_t code_at = 0, out = 1;
    uint8_t code = 1;
    for (size_t i = 0; i < n; i++) {
        if (data[i] == 0) {
            wire[code_at] = code;
            code_at = out++;
            code = 1;
            continue;
        }
        wire[out++] = data[i];
        if (++code == 0xFF && i + 1 < n) {
            wire[code_at] = code;
            code_at = out++;
            code = 1;
        }
    }
    wire[code_at] = code;
    wire[out++] = 0;
    return out;
}

static void put16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *to, uint32_t value)
{
    put16(to, (uint16_t)value);
    put16(to + 2, (uint16_t)(value >> 16));
}

static void head(hb1_t *b, uint8_t type, uint8_t flags, uint32_t time_us, uint8_t samples)
{
    b->body[0] = type;
    b->body[1] = flags;
    put16(b->body + 2, b->seq);
    put32(b->body + 4, time_us);
    b->body[8] = b->about.channels;
    b->body[9] = samples;
}

static size_t close_frame(hb1_t *b, size_t n, uint8_t *wire)
{
    put16(b->body + n, hb1_crc(b->body, n));
    return hb1_cobs(b->body, n + 2, wire);
}

void hb1_init(hb1_t *b, const hb1_info_t *about)
{
    memset(b, 0, sizeof *b);
    b->about = *about;
    b->seq = 0xFFFFu; /* the first frame is number 0 */
}

size_t hb1_sample(hb1_t *b, const uint16_t *words, uint32_t time_us, uint8_t flags, uint8_t *wire)
{
    uint8_t *to = b->body + 10 + 2u * b->about.channels * b->filled;
    if (b->filled == 0) {
        b->first_us = time_us;
        b->flags = 0;
    }
    b->flags |= flags;
    for (uint8_t i = 0; i < b->about.channels; i++)
        put16(to + 2u * i, words[i]);
    if (++b->filled < b->about.samples)
        return 0;
    b->filled = 0;
    b->seq++;
    head(b, HB1_SAMPLE, b->flags, b->first_us, b->about.samples);
    return close_frame(b, 10u + 2u * b->about.channels * b->about.samples, wire);
}

size_t hb1_info(hb1_t *b, uint32_t time_us, uint8_t *wire)
{
    hb1_t frame = *b; /* a batch that is being filled stays as it is */
    head(&frame, HB1_INFO, 0, time_us, b->about.samples);
    put32(frame.body + 10, b->about.period_us);
    frame.body[14] = b->about.bits;
    frame.body[15] = b->about.kind;
    put16(frame.body + 16, b->about.firmware);
    memcpy(frame.body + 18, b->about.serial, sizeof b->about.serial);
    return close_frame(&frame, 34, wire);
}

static int question(const uint8_t *wire, size_t n)
{
    uint8_t body[16];
    size_t in = 0, out = 0;
    while (in < n) {
        uint8_t code = wire[in++];
        if (code == 0 || in + code - 1u > n)
            return 0;
        for (uint8_t i = 1; i < code; i++)
            body[out++] = wire[in++];
        if (code < 0xFF && in < n)
            body[out++] = 0;
    }
    if (out != 12 || hb1_crc(body, 10) != (uint16_t)(body[10] | body[11] << 8))
        return 0;
    return body[0] >= HB1_ASK_INFO && body[0] <= HB1_STOP ? body[0] : 0;
}

int hb1_heard(hb1_t *b, uint8_t byte)
{
    int found = 0;
    if (byte == 0) {
        if (b->heard_n <= sizeof b->heard)
            found = question(b->heard, b->heard_n);
        b->heard_n = 0;
    } else if (b->heard_n < sizeof b->heard) {
        b->heard[b->heard_n++] = byte;
    } else {
        b->heard_n = (uint8_t)(sizeof b->heard + 1); /* too long: wait for the next delimiter */
    }
    return found;
}
