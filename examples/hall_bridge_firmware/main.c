/* A Hall bridge: replace the five board functions by those of your chip. */
#include "hb1.h"

#define CHANNELS 24u

/* --- your board ------------------------------------------------------------------------------------ */
void board_init(uint32_t sample_rate_hz);          /* timer, SPI with DMA, USB */
int board_sampled(uint16_t *words, uint32_t *us);  /* 1 once per timer tick: words of all sensors, time */
uint32_t board_time_us(void);
int board_read(void);                              /* next byte from USB, -1: none */
void board_write(const uint8_t *data, size_t n);   /* to USB; drops when the computer does not read */

/* AS5047 and relatives: bit 15 even parity, bit 14 error flag, 14 bits angle. */
static uint16_t checked(uint16_t word)
{
    uint16_t x = word ^ (uint16_t)(word >> 8);
    x ^= (uint16_t)(x >> 4);
    x ^= (uint16_t)(x >> 2);
    x ^= (uint16_t)(x >> 1);
    return (uint16_t)((word & (HB1_VALUE | HB1_SENSOR_ERROR)) | ((x & 1u) ? HB1_STALE : 0u));
}

int main(void)
{
    static hb1_t bridge;
    static uint8_t wire[HB1_WIRE_MAX];
    static uint16_t words[CHANNELS];
    const hb1_info_t about = {CHANNELS, 1, 333, 12, 1, 1, "HB-0001"};
    uint32_t now, told = 0;
    int streaming = 1;

    hb1_init(&bridge, &about);
    board_init(3000);
    for (;;) {
        if (board_sampled(words, &now)) {
            for (unsigned i = 0; i < CHANNELS; i++)
                words[i] = checked(words[i]);
            size_t n = hb1_sample(&bridge, words, now, 0, wire);
            if (n && streaming)
                board_write(wire, n);
        }
        int byte = board_read();
        int asked = byte >= 0 ? hb1_heard(&bridge, (uint8_t)byte) : 0;
        if (asked == HB1_START || asked == HB1_STOP)
            streaming = asked == HB1_START;
        now = board_time_us();
        if (asked == HB1_ASK_INFO || now - told >= 1000000u) {
            told = now;
            board_write(wire, hb1_info(&bridge, now, wire));
        }
    }
}
