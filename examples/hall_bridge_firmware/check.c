/* Runs on a computer: frames of the skeleton, byte by byte; with an argument it writes a stream for the driver. */
#include "hb1.h"

#include <stdio.h>
#include <string.h>

static int same(const char *what, const uint8_t *found, size_t n, const uint8_t *wanted, size_t m)
{
    if (n == m && memcmp(found, wanted, n) == 0)
        return 0;
    fprintf(stderr, "%s differs:", what);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, " %02x", found[i]);
    fprintf(stderr, "\n");
    return 1;
}

int main(int argc, char **argv)
{
    static const uint8_t note[] = {0x02, 0x01, 0x02, 0x07, 0x04, 0x40, 0xe2, 0x01, 0x03, 0x04, 0x01,
                                   0x01, 0x02, 0x01, 0x01, 0x06, 0x08, 0xff, 0x0f, 0x16, 0xe5, 0x00};
    static uint8_t wire[HB1_WIRE_MAX];
    static hb1_t b;
    const uint16_t words[4] = {0, 1, 2048, 4095};
    hb1_info_t about = {4, 1, 333, 12, 1, 1, "HB-0001"};
    int wrong = 0;

    hb1_init(&b, &about);
    b.seq = 6;
    size_t n = hb1_sample(&b, words, 123456, 0, wire);
    wrong += same("sample", wire, n, note, sizeof note);
    wrong += hb1_crc((const uint8_t *)"123456789", 9) != 0x29B1;

    uint8_t ask[] = {HB1_ASK_INFO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    uint16_t crc = hb1_crc(ask, 10);
    ask[10] = (uint8_t)crc;
    ask[11] = (uint8_t)(crc >> 8);
    n = hb1_cobs(ask, sizeof ask, wire);
    int heard = 0;
    for (size_t i = 0; i < n; i++)
        heard = hb1_heard(&b, wire[i]);
    wrong += heard != HB1_ASK_INFO;
    for (int i = 0; i < 300; i++) /* noise never becomes a question */
        wrong += hb1_heard(&b, (uint8_t)(i * 37 + 1)) != 0;

    if (argc > 1 && !wrong) {
        FILE *out = fopen(argv[1], "wb");
        if (!out)
            return 2;
        about.samples = 3;
        hb1_init(&b, &about);
        fputc(0, out);
        fwrite(wire, 1, hb1_info(&b, 7, wire), out);
        for (uint16_t k = 0; k < 300; k++) {
            const uint16_t moving[4] = {k, (uint16_t)(0x3FFF - k), HB1_STALE, (uint16_t)(HB1_SENSOR_ERROR | k)};
            fwrite(wire, 1, hb1_sample(&b, moving, 333u * k, 0, wire), out);
        }
        fclose(out);
    }
    printf(wrong ? "wrong\n" : "good\n");
    return wrong != 0;
}
