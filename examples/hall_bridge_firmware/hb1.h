/* HB1: frames of a Hall bridge. Little-endian body, CRC-16/IBM-3740, COBS, closed by 0x00. */
#ifndef HB1_H
#define HB1_H

#include <stddef.h>
#include <stdint.h>

#define HB1_CHANNELS_MAX 64u
#define HB1_SAMPLES_MAX 16u
#define HB1_BODY_MAX (10u + 2u * HB1_CHANNELS_MAX * HB1_SAMPLES_MAX + 2u)
#define HB1_WIRE_MAX (HB1_BODY_MAX + HB1_BODY_MAX / 254u + 2u)

#define HB1_STALE 0x8000u        /* parity error, or the value is not new */
#define HB1_SENSOR_ERROR 0x4000u /* the sensor says so */
#define HB1_VALUE 0x3FFFu

enum { HB1_SAMPLE = 0x01, HB1_INFO = 0x02, HB1_STATUS = 0x03 };
enum { HB1_ASK_INFO = 0x10, HB1_START = 0x11, HB1_STOP = 0x12 };
enum { HB1_OVERRUN = 1, HB1_SYNC = 2, HB1_SUPPLY = 4 };

typedef struct {
    uint8_t channels;
    uint8_t samples; /* per frame */
    uint32_t period_us;
    uint8_t bits; /* of a value: 12 or 14 */
    uint8_t kind; /* of sensor, your own numbering */
    uint16_t firmware;
    char serial[16];
} hb1_info_t;

typedef struct {
    hb1_info_t about;
    uint16_t seq; /* counts sample frames */
    uint8_t filled;
    uint8_t flags;
    uint32_t first_us;
    uint8_t body[HB1_BODY_MAX];
    uint8_t heard[16]; /* bytes of a question */
    uint8_t heard_n;
} hb1_t;

void hb1_init(hb1_t *b, const hb1_info_t *about);

/* One sample of all channels. Returns the bytes to send in `wire` (HB1_WIRE_MAX), 0 while a batch fills. */
size_t hb1_sample(hb1_t *b, const uint16_t *words, uint32_t time_us, uint8_t flags, uint8_t *wire);

/* The info frame. Returns the bytes to send. */
size_t hb1_info(hb1_t *b, uint32_t time_us, uint8_t *wire);

/* One byte from the computer. Returns HB1_ASK_INFO, HB1_START, HB1_STOP, or 0. */
int hb1_heard(hb1_t *b, uint8_t byte);

uint16_t hb1_crc(const uint8_t *data, size_t n);
size_t hb1_cobs(const uint8_t *data, size_t n, uint8_t *wire);

#endif
