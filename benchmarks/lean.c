/*
 * The lean reference tick: the least work that gives the commands of the hand's tick while nothing is wrong.
 *
 * Tensions, speeds, estimates, distribution, force loop, feedforward, limits and one pass of checks, for a hand with
 * a wrist whose fingers are all active under joint impedance. It works on the runtime's own records (records.h is
 * made from their dtypes) and on their memories, so that it can go on where a run was canned. What it leaves out is
 * what a fault needs: latches, states, reactions, looking ahead, residuals of the wrist, fingertips, the ring. Where
 * it meets something that is not healthy it counts it and goes on; then its commands mean nothing.
 *
 * No fast-math: the same IEEE arithmetic as the laws, in another order.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

#define PI 3.141592653589793

enum { T = 64, ROW = 8, COLUMN = 16, FINGER_MAX = 8, THUMB_STEPS = 3 };

/* What never changes while the hand runs, laid out as the tick reads it. */
struct finger {
    int tendons, joints, first, base;
    int t[COLUMN], i[COLUMN], j[ROW], insertion[COLUMN];
    double P[ROW][COLUMN], pinv[ROW][COLUMN];
};

struct lean {
    int fingers, tendons, axes, ripples;
    struct finger finger[FINGER_MAX];
    double order[8][T], amplitude[8][T], phase[8][T];
    double ripple[T], wanted[T], path[T], speed[T], wrist_rate[T], moved[T], last_angle[T];
    double share_wrist, share_feedback, fade;
    int64_t unhealthy;
};

static inline double clip(double x, double low, double high)
{
    return x < low ? low : (x > high ? high : x);
}

static inline double least(double a, double b) { return a < b ? a : b; }
static inline double most(double a, double b) { return a > b ? a : b; }

static inline double sine(double x)
{
    const double round = 6755399441055744.0;
    double k = (x * 0.3183098861837907 + round) - round;
    double r = (x - k * 3.141592653589793) - k * 1.2246467991473532e-16;
    double q = r * r, odd = k - 2.0 * ((0.5 * k + round) - round);
    double series = -1.984126984126984e-4 +
        q * (2.755731922398589e-6 + q * (-2.505210838544172e-8 + q * (1.605904383682161e-10 - 7.647163731819816e-13 * q)));
    series = 1.0 + q * (-1.6666666666666666e-1 + q * (8.333333333333333e-3 + q * series));
    return r * series * (1.0 - 2.0 * odd * odd);
}

static inline double arctangent(double x)
{
    double t = fabs(x);
    int low = t > 0.41421356237309503, high = t > 2.414213562373095;
    double z = high ? -1.0 / t : (low ? (t - 1.0) / (t + 1.0) : t), q = z * z;
    double series = 0.07691055157849669 +
        q * (-0.06649613689550408 + q * (0.05736332130703195 + q * (-0.044833345062807464 + 0.022750525406052224 * q)));
    series = -0.14285714266096602 + q * (0.11111109636533431 + q * (-0.09090852557145968 + q * series));
    series = q * (-0.3333333333333325 + q * (0.19999999999898407 + q * series));
    double y = (high ? 0.5 * PI : (low ? 0.25 * PI : 0.0)) + (z + z * series);
    return x < 0.0 ? -y : y;
}

static inline double share_left(double x)
{
    return x >= 1.0 ? 0.0 : 1.0 - x * x * x * (10.0 + x * (-15.0 + 6.0 * x));
}

static inline double share_rate(double x, double duration)
{
    double y = x * (1.0 - x);
    return x >= 1.0 || duration <= 0.0 ? 0.0 : -30.0 * y * y / duration;
}

static inline void glide(double *value, double *rate, double goal, double goal_rate, double fastest,
                         double acceleration, double low, double high, double dt)
{
    goal = clip(goal, low, high);
    double way = goal - goal_rate * dt - *value, closing = least(100.0 * fabs(way), sqrt(acceleration * fabs(way)));
    double wanted = clip(goal_rate + (way > 0.0 ? closing : -closing), -fastest, fastest);
    if (wanted > 0.0)
        wanted = least(wanted, sqrt(acceleration * most(high - *value, 0.0)));
    else
        wanted = most(wanted, -sqrt(acceleration * most(*value - low, 0.0)));
    double after = *rate + clip(wanted - *rate, -acceleration * dt, acceleration * dt);
    *value += 0.5 * (*rate + after) * dt;
    *rate = after;
}

typedef double pair __attribute__((vector_size(16)));

/* Two cubics over one interval: force and path. */
static inline pair cubics(double u, double h, const double *y, const double *z, const double *d, const double *e)
{
    pair y0 = {y[0], z[0]}, y1 = {y[1], z[1]}, d0 = {d[0], e[0]}, d1 = {d[1], e[1]}, rise = y1 - y0;
    pair c2 = 3.0 * rise - h * (2.0 * d0 + d1), c3 = h * (d0 + d1) - 2.0 * rise;
    return y0 + u * (h * d0 + u * (c2 + u * c3));
}

/* The levers' friction loops one cycle on: slowed angles through their plays, the magnets' play put back. */
static void loops(struct lean *l, struct estimator *e, const struct state *s)
{
    double share = e->loop_share;
    for (int t = 0; t < l->tendons; t++) {
        double x = e->loop_slow_rad[t] + share * (s->lever_angle_rad[t] - e->loop_slow_rad[t]);
        double band = e->loop_band_rad[t], half = e->loop_half_rad[t], before = e->loop_held_rad[t], hid = e->loop_hidden_rad[t];
        double held = least(most(before, x - band), x + band), way = held - before;
        double hidden = least(most(hid + way, -half), half);
        way += hidden - hid;
        double turned = fabs(way) * e->loop_1_rad[t], part = least(turned / (1.0 + 0.5 * turned), 1.0);
        e->loop_slow_rad[t] = x, e->loop_held_rad[t] = held, e->loop_hidden_rad[t] = hidden;
        e->loop_sign[t] += (copysign(1.0, -way) - e->loop_sign[t]) * part;
    }
}

/* Tensions, stiffness, elongations from counts; one look at each channel. */
static void springs(struct lean *l, const struct model *m, const struct measurement *z, struct estimator *e, struct state *s)
{
    for (int t = 0; t < l->tendons; t++)
        s->lever_angle_rad[t] = (z->hall_fine_count[t] - m->hall_zero_count[t]) / m->hall_counts_rad[t];
    loops(l, e, s);
    for (int t = 0; t < l->tendons; t++) {
        int k = (int)m->tendon_spring[t];
        double low = m->lever_min_rad[k], high = m->lever_max_rad[k], lever = s->lever_angle_rad[t];
        double place = (lever - low) / (high - low) * 191.0, h = (high - low) / 191.0;
        int at = (int)clip(place, 0.0, 190.0);
        double u = place - at, scale = m->spring_scale[t];
        pair both = cubics(u, h, &m->spring_force_n[k][at], &m->spring_path_m[k][at],
                           &m->spring_force_slope_n_rad[k][at], &m->spring_path_slope_m_rad[k][at]);
        double force = scale * both[0];
        double w = both[0] / m->force_max_n[k] * 127.0; /* a lever between its stops is within the table */
        int node = (int)clip(w, 0.0, 126.0);
        double mechanism = scale * (m->stiffness_n_m[k][node] + (w - node) * (m->stiffness_n_m[k][node + 1] - m->stiffness_n_m[k][node]));
        double compliance = m->tendon_compliance_m_n[t];
        s->tension_n[t] = most(force, 0.0);
        s->elongation_m[t] = s->tension_n[t] * (1.0 + e->loop_frac[t] * e->loop_sign[t]) * compliance - both[1];
        s->tendon_stiffness_n_m[t] = mechanism / (1.0 + mechanism * compliance);
        l->unhealthy += z->hall_status[t] != 0 || !(lever > low && lever < high - m->slack_margin_rad[k]);
    }
}

static void motors(struct lean *l, const struct model *m, const struct measurement *z, struct estimator *e, struct state *s)
{
    double dt = 0.0, share = 0.0;
    for (int i = 0; i < (int)m->n_motors; i++) {
        double since = 1e-9 * (double)(z->motor_time_ns[i] - e->last_motor_ns[i]), angle = z->motor_angle_rad[i];
        if (since != dt)
            dt = since, share = 1.0 - exp(-2.0 * PI * m->velocity_filter_hz * dt);
        s->motor_speed_rad_s[i] += share * ((angle - e->last_motor_angle_rad[i]) / dt - s->motor_speed_rad_s[i]);
        e->last_motor_ns[i] = z->motor_time_ns[i];
        e->last_motor_angle_rad[i] = s->motor_angle_rad[i] = angle;
        l->unhealthy += z->motor_status[i] != 0 || !(fabs(angle) < 1e6) || !(since > 0.0);
    }
    e->motor_dt_s[0] = dt;
}

/* Palm pose of the closed loop, lengths and rates of the tendons' ways through it. */
static void wrist(struct lean *l, const struct model *m, const struct measurement *z, struct estimator *e,
                  struct guard *g, struct state *s)
{
    double a = m->wrist_size_m[0], b = m->wrist_size_m[1], c = m->wrist_size_m[2];
    double q = z->axis_angle_rad[0], t = 0.5 * PI - z->axis_angle_rad[1];
    double square = a * a + b * b + c * c, r = sqrt(square), st = sin(t), ct = cos(t), sq = sin(q), cq = cos(q);
    double n = square - b * b, d0 = square + b * b - 2.0 * r * b * st, d1 = -2.0 * r * b * ct;
    double cx0 = n * r * ct / d0, cx1 = (-n * r * st - cx0 * d1) / d0;
    double cy0 = n * (r * st - b) / d0, cy1 = (n * r * ct - cy0 * d1) / d0, bx = r * ct, by = r * st;
    double sp = -(bx - cx0) / b, cp = (by - cy0) / b, psi1 = (cp * (by + cx1) - sp * (bx - cy1)) / b;
    double mx = 0.5 * (bx + cx0), my = 0.5 * (by + cy0), mx1 = 0.5 * (cx1 - by), my1 = 0.5 * (bx + cy1);
    double px = mx - c * sq, py = my - 0.5 * b;
    double gamma = (mx * (mx - 2.0 * c * sq) + py * py + c * c - a * a) / (2.0 * c);
    double alpha = cp * px + sp * py, beta = -c * cq, rho2 = alpha * alpha + beta * beta;
    double root = sqrt(rho2 - gamma * gamma), ss = (alpha * gamma - beta * root) / rho2, cs = (beta * gamma + alpha * root) / rho2;
    double across = cp * py - sp * px, k = -1.0 / root;
    double sigma_q = k * (-c * cp * cq * ss + c * sq * cs + mx * cq);
    double sigma_t = k * ((cp * mx1 + sp * my1 + psi1 * across) * ss - (px * mx1 + py * my1) / c);
    double zx = cq * cp * ss - sq * cs, zy = sp * ss, zz = sq * cp * ss + cq * cs, half = 0.5 * c;
    double R[9] = {cq * cp * cs + sq * ss, -cq * sp, zx, sp * cs, cp, zy, sq * cp * cs - cq * ss, -sq * sp, zz};
    double o[3] = {cq * mx - half * zx, my - half * zy, sq * mx - half * zz};
    double e1 = cp * mx1 + sp * my1, e2 = cp * my1 - sp * mx1, wx = -cs * sp, wy = sigma_q - cp, ux = ss * psi1, uy = -sigma_t;
    double U[6] = {wx, wy, -ss * sp, -ss * mx - half * wy, half * wx, cs * mx};
    double V[6] = {ux, uy, -cs * psi1, -cs * e1 - half * uy, half * ux - e2, -ss * e1};
    double load0 = 0.0, load1 = 0.0;
    for (int i = 0; i < l->tendons; i++) {
        const double *p = m->palm_point_m[i], *f = m->forearm_point_m[i];
        double fx = o[0] - f[0], fy = o[1] - f[1], fz = o[2] - f[2];
        double x = R[0] * fx + R[3] * fy + R[6] * fz + p[0], y = R[1] * fx + R[4] * fy + R[7] * fz + p[1];
        double w = R[2] * fx + R[5] * fy + R[8] * fz + p[2], length = sqrt(x * x + y * y + w * w), inverse = 1.0 / length;
        double nx = inverse * x, ny = inverse * y, nz = inverse * w;
        double ax = p[1] * nz - p[2] * ny, ay = p[2] * nx - p[0] * nz, az = p[0] * ny - p[1] * nx;
        double change = (double)(m->use_wrist != 0) * (length - m->wrist_neutral_length_m[i]);
        load0 -= (ax * U[0] + ay * U[1] + az * U[2] + nx * U[3] + ny * U[4] + nz * U[5]) * s->tension_n[i];
        load1 -= (ax * V[0] + ay * V[1] + az * V[2] + nx * V[3] + ny * V[4] + nz * V[5]) * s->tension_n[i];
        s->wrist_length_m[i] = change;
        g->wrist_m_s[i] += l->share_wrist * ((change - g->wrist_before_m[i]) / m->dt_s - g->wrist_m_s[i]);
        g->wrist_before_m[i] = change;
    }
    s->axis_angle_rad[0] = z->axis_angle_rad[0], s->axis_angle_rad[1] = z->axis_angle_rad[1];
    g->wrist_load[0] = load0 / (0.8 * m->axis_torque_limit_nm[0]);
    g->wrist_load[1] = load1 / (0.8 * m->axis_torque_limit_nm[1]);
    l->unhealthy += z->axis_status[0] != 0 || z->axis_status[1] != 0;
    (void)e;
}

/* Length of a base tendon and its row of P. */
static inline double insertion(const struct model *m, int f, int t, double s0, double c0, double s1, double c1, double *p0, double *p1)
{
    const double *bone = m->insertion_bone_m[t], *palm = m->insertion_palm_m[t];
    double vx = m->thumb_metacarpal_m[f] + bone[0], wx = c1 * vx - s1 * bone[2], wz = s1 * vx + c1 * bone[2];
    double rx = m->thumb_base_offset_m[f] + wx, px = c0 * rx - s0 * bone[1], py = s0 * rx + c0 * bone[1];
    double x = px - palm[0], y = py - palm[1], z = wz - palm[2], h = sqrt(x * x + y * y + z * z), inverse = 1.0 / h;
    *p0 = inverse * (y * px - x * py);
    *p1 = inverse * (z * wx - wz * (x * c0 + y * s0));
    return h;
}

static void thumb(const struct model *m, struct finger *g, int f, const struct state *s, double *q0, double *q1)
{
    for (int step = 0; step <= THUMB_STEPS; step++) {
        double a00 = 0.0, a01 = 0.0, a11 = 0.0, b0 = 0.0, b1 = 0.0;
        double s0 = sin(*q0), c0 = cos(*q0), s1 = sin(*q1), c1 = cos(*q1);
        for (int k = 0; k < g->tendons; k++) {
            if (!g->insertion[k])
                continue;
            double p0, p1, error = s->tendon_length_m[g->t[k]] - insertion(m, f, g->t[k], s0, c0, s1, c1, &p0, &p1);
            g->P[0][k] = p0, g->P[1][k] = p1;
            a00 += p0 * p0, a01 += p0 * p1, a11 += p1 * p1, b0 += p0 * error, b1 += p1 * error;
        }
        double inverse = 1.0 / (a00 * a11 - a01 * a01);
        for (int k = 0; k < g->tendons; k++) {
            g->pinv[0][k] = inverse * (a11 * g->P[0][k] - a01 * g->P[1][k]);
            g->pinv[1][k] = inverse * (a00 * g->P[1][k] - a01 * g->P[0][k]);
        }
        if (step == THUMB_STEPS)
            return;
        *q0 += inverse * (a11 * b0 - a01 * b1), *q1 += inverse * (a00 * b1 - a01 * b0);
    }
}

static void angles(struct lean *l, const struct model *m, struct estimator *e, struct state *s)
{
    double dt = e->motor_dt_s[0], share = 1.0 - exp(-2.0 * PI * m->velocity_filter_hz * dt);
    for (int t = 0; t < l->tendons; t++)
        s->tendon_length_m[t] = s->elongation_m[t] - m->spool_radius_m[t] * s->motor_angle_rad[m->tendon_motor[t]] -
                                s->wrist_length_m[t] - m->elongation_offset_m[t];
    for (int f = 0; f < l->fingers; f++) {
        struct finger *g = &l->finger[f];
        double worst = 0.0, rest[COLUMN];
        if (g->base)
            thumb(m, g, f, s, &s->joint_angle_rad[g->j[0]], &s->joint_angle_rad[g->j[1]]);
        for (int k = 0; k < g->tendons; k++)
            rest[k] = s->tendon_length_m[g->t[k]];
        for (int b = g->first; b < g->joints; b++) {
            double q = 0.0;
            for (int k = 0; k < g->tendons; k++)
                q += g->pinv[b][k] * s->tendon_length_m[g->t[k]];
            for (int k = 0; k < g->tendons; k++)
                rest[k] -= g->P[b][k] * q;
            s->joint_angle_rad[g->j[b]] = q;
        }
        for (int k = 0; k < g->tendons; k++)
            worst += g->insertion[k] ? 0.0 : rest[k] * rest[k];
        l->unhealthy += worst > g->tendons * m->residual_limit_m[f] * m->residual_limit_m[f];
        for (int b = 0; b < g->joints; b++) {
            int j = g->j[b];
            double q = s->joint_angle_rad[j];
            s->joint_speed_rad_s[j] += share * ((q - e->last_joint_angle_rad[j]) / dt - s->joint_speed_rad_s[j]);
            e->last_joint_angle_rad[j] = q;
        }
    }
}

/* Goal of the wrist's drive and the model of the drive; how fast the ways through the wrist will change. */
static void axes(struct lean *l, const struct model *m, const struct goal *w, struct controller *c, struct command *u)
{
    double x = c->axis_age_s / c->axis_blend_s;
    for (int a = 0; a < l->axes; a++) {
        double goal = w->axis_angle_rad[a] + c->offset_axis_rad[a] * share_left(x);
        double rate = w->axis_speed_rad_s[a] + c->offset_axis_rad[a] * share_rate(x, c->axis_blend_s);
        glide(&c->shaped_axis_rad[a], &c->shaped_axis_rad_s[a], goal, rate, m->axis_speed_max_rad_s[a],
              m->axis_acceleration_max_rad_s2[a], m->axis_min_rad[a], m->axis_max_rad[a], m->dt_s);
        double hz = 2.0 * PI * m->axis_bandwidth_hz[a];
        double speed = c->axis_speed_rad_s[a] + m->dt_s * hz * hz * (c->shaped_axis_rad[a] - c->axis_angle_rad[a]);
        speed /= 1.0 + m->dt_s * 2.0 * m->axis_damping_ratio[a] * hz;
        c->axis_speed_rad_s[a] = speed;
        c->axis_angle_rad[a] += m->dt_s * speed;
        u->axis_angle_rad[a] = clip(c->shaped_axis_rad[a], m->axis_min_rad[a], m->axis_max_rad[a]);
        u->axis_enable[a] = 1;
        l->unhealthy += fabs(speed) > 1e-4; /* a moving wrist needs its rates here too */
    }
    c->axis_age_s += m->dt_s;
}

static void ripples(struct lean *l, const struct model *m, const struct state *s)
{
    int n = (int)m->n_motors;
    double gain = m->use_ripple ? clip(m->ripple_gain, 0.0, 1.0) : 0.0, lead = m->delay_s + 0.5 * m->dt_s, dt = m->dt_s;
    memset(l->ripple, 0, sizeof l->ripple);
    for (int h = 0; h < l->ripples; h++)
        for (int i = 0; i < n; i++) {
            double w = s->motor_speed_rad_s[i], order = l->order[h][i];
            double fade = clip((1.6 - fabs(order * w) * dt) / 0.8, 0.0, 1.0);
            l->ripple[i] += gain * fade * l->amplitude[h][i] * sine(order * (s->motor_angle_rad[i] + w * lead) + l->phase[h][i]);
        }
}

static inline double stop_speed(double way, double speed, double deceleration, double end)
{
    double left = way - 0.005 * most(speed, 0.0);
    return left > 0.0 ? least(sqrt(end * end + 2.0 * deceleration * left), end + 12.0 * left) : end + 10.0 * left;
}

/* Wanted torques of a finger, tensions that give them, torques of its motors. */
static void control(struct lean *l, const struct model *m, const struct goal *w, struct controller *c, struct state *s, int f)
{
    struct finger *g = &l->finger[f];
    double x = c->age_s[f] / c->blend_s[f], left = share_left(x), rate = share_rate(x, c->blend_s[f]);
    double lowest = (w->pretension_n[f] > 0.0 ? w->pretension_n[f] : m->pretension_n[f]) + c->offset_common_n[f] * left;
    double highest = 0.0, fastest = m->tension_rate_n_s, hardest = 1e9, torque[ROW], f_n[COLUMN], moved[COLUMN], speed[COLUMN];
    for (int k = 0; k < g->tendons; k++) {
        int t = g->t[k], i = g->i[k];
        double turn = m->spool_radius_m[t] * most(s->tendon_stiffness_n_m[t], 1.0);
        moved[k] = m->spool_radius_m[t] * (s->motor_angle_rad[i] - c->last_motor_rad[t]) + s->wrist_length_m[t] - c->last_wrist_m[t] - c->guide_stretch_m[t];
        speed[k] = m->spool_radius_m[t] * s->motor_speed_rad_s[i];
        c->last_motor_rad[t] = s->motor_angle_rad[i], c->last_wrist_m[t] = s->wrist_length_m[t];
        lowest = most(lowest, m->tension_min_n[t]), highest = most(highest, m->tension_max_n[t]);
        fastest = least(fastest, 0.6 * m->motor_speed_limit_rad_s[i] * turn);
        hardest = least(hardest, 0.3 * m->motor_torque_limit_nm[i] / m->motor_inertia_kg_m2[i] * turn);
    }
    glide(&c->common_n[f], &c->common_n_s[f], lowest, 0.0, fastest, hardest, 0.0, highest, m->dt_s);
    for (int k = 0; k < g->tendons; k++)
        f_n[k] = clip(c->common_n[f], m->tension_min_n[g->t[k]], m->tension_max_n[g->t[k]]);
    for (int b = 0; b < g->joints; b++) {
        int j = g->j[b];
        double q = s->joint_angle_rad[j], change = 0.0, feedback_speed = 0.0, r;
        for (int k = 0; k < g->tendons; k++)
            change -= g->pinv[b][k] * moved[k], feedback_speed -= g->pinv[b][k] * speed[k];
        c->feedback_rad[j] += change;
        c->feedback_rad[j] += l->share_feedback * (q - c->feedback_rad[j]);
        r = c->shaped_torque_nm[j] += clip(w->joint_torque_nm[j] - c->shaped_torque_nm[j], -m->joint_torque_rate_nm_s[j] * m->dt_s, m->joint_torque_rate_nm_s[j] * m->dt_s);
        double goal = clip(w->joint_angle_rad[j] + c->offset_joint_rad[j] * left, m->joint_min_rad[j], m->joint_max_rad[j]);
        double before = c->shaped_rad[j], way = goal > before ? m->joint_max_rad[j] - before : before - m->joint_min_rad[j];
        glide(&c->shaped_rad[j], &c->shaped_speed_rad_s[j], goal, w->joint_speed_rad_s[j] + c->offset_joint_rad[j] * rate,
              least(m->joint_speed_max_rad_s[j], stop_speed(way, 0.0, m->joint_brake_rad_s2[j], m->stop_speed_rad_s)),
              m->joint_acceleration_max_rad_s2[j], m->joint_min_rad[j], m->joint_max_rad[j], m->dt_s);
        r += w->joint_impedance_nm_rad[j] * (c->shaped_rad[j] - c->feedback_rad[j]);
        torque[b] = r + w->joint_damping_nms_rad[j] * (c->shaped_speed_rad_s[j] - feedback_speed);
    }
    double guide_gain = m->use_guides ? clip(m->guide_gain, 0.0, 1.0) : 0.0, taken[COLUMN], paths[COLUMN], stretch[COLUMN] = {0.0};
    for (int k = 0; k < g->tendons; k++) {
        double path = 0.0, v0 = m->guide_speed_m_s;
        for (int b = 0; b < g->joints; b++)
            path += g->P[b][k] * c->shaped_speed_rad_s[g->j[b]];
        double lost = c->ref_tension_n[g->t[k]] * m->guide_loss_frac[g->t[k]] + m->guide_bending_n[g->t[k]];
        paths[k] = path, taken[k] = lost * path / sqrt(path * path + v0 * v0);
    }
    for (int b = 0; b < g->joints; b++) {
        int j = g->j[b];
        double w = c->shaped_speed_rad_s[j], v0 = m->joint_friction_speed_rad_s;
        double own = m->joint_viscous_nms_rad[j] * w + m->joint_coulomb_nm[j] * w / sqrt(w * w + v0 * v0);
        for (int k = 0; k < g->tendons; k++)
            own += g->P[b][k] * taken[k];
        own *= guide_gain;
        double change = 0.4 * (own - s->guide_torque_nm[j]);
        torque[b] += s->guide_torque_nm[j] = own;
        for (int k = 0; k < g->tendons; k++)
            stretch[k] -= g->pinv[b][k] * change;
    }
    double common = f_n[0], preferred[COLUMN];
    memcpy(preferred, f_n, sizeof f_n);
    for (int b = 0; b < g->joints; b++) {
        double r = torque[b];
        for (int k = 0; k < g->tendons; k++)
            r += g->P[b][k] * preferred[k];
        for (int k = 0; k < g->tendons; k++)
            f_n[k] -= g->pinv[b][k] * r;
    }
    double kept = l->fade, friction_gain = m->use_friction ? clip(m->friction_gain, 0.0, 1.0) : 0.0;
    for (int k = 0; k < g->tendons; k++) {
        int t = g->t[k], i = g->i[k];
        double stiffness = most(s->tendon_stiffness_n_m[t], 1.0), radius = m->spool_radius_m[t];
        double wanted = (c->common_n_s[f] / stiffness - paths[k]) / radius;
        c->guide_stretch_m[t] = stretch[k] / stiffness;
        double kp = m->tension_kp_nm_n * clip(sqrt(7200.0 / stiffness), 0.6, 1.25);
        double friction = friction_gain * (m->friction_gamma_2_nm[i] * arctangent(m->friction_gamma_1_s_rad[i] * wanted) + m->friction_gamma_3_nms_rad[i] * wanted);
        c->offset_torque_nm[i] *= kept;
        l->wanted[t] = radius * f_n[k] + kp * (f_n[k] - s->tension_n[t]) - m->tension_kd_nms_rad * (s->motor_speed_rad_s[i] - wanted) + friction + l->ripple[i] + c->offset_torque_nm[i];
        s->ref_tension_n[t] = c->ref_tension_n[t] = f_n[k];
        l->unhealthy += !(f_n[k] > m->tension_min_n[t] && f_n[k] < m->tension_max_n[t]);
    }
    (void)common;
    c->age_s[f] += m->dt_s;
}

/* Limits of a finger's motors: range, joints, tension, motor, rate; the currents. */
static void limit(struct lean *l, const struct model *m, const struct measurement *z, struct guard *g, struct state *s,
                  struct command *u, int f)
{
    struct finger *n = &l->finger[f];
    double path[COLUMN], joint[ROW], up[ROW], down[ROW], quickest = 0.0;
    for (int k = 0; k < n->tendons; k++) {
        path[k] = m->spool_radius_m[n->t[k]] * s->motor_speed_rad_s[n->i[k]] + g->wrist_m_s[n->t[k]];
        quickest = most(quickest, fabs(path[k]));
    }
    int under = (int)g->stands_on[f];
    g->unrest_m_s[f] = least(most(quickest, g->unrest_kept * g->unrest_m_s[f]), 15.0 * m->unrest_speed_m_s);
    g->unrest_m_s[under] = most(g->unrest_m_s[under], g->unrest_m_s[f]);
    double share = clip(g->unrest_m_s[f] / m->unrest_speed_m_s - 1.0, 0.0, 1.0);
    for (int b = 0; b < n->joints; b++) {
        joint[b] = 0.0;
        for (int k = 0; k < n->tendons; k++)
            joint[b] -= n->pinv[b][k] * path[k];
        g->motor_joint_rad_s[n->j[b]] = joint[b];
    }
    for (int b = 0; b < n->joints; b++) {
        int j = n->j[b], by = (int)g->carrier[j];
        double q = s->joint_angle_rad[j], top = 1.5 * m->joint_speed_max_rad_s[j], end = m->stop_speed_rad_s, calm = m->joint_noise_rad_s;
        double rising = s->joint_speed_rad_s[j], falling = rising, turn = g->carried_turn[j];
        double above = m->joint_max_rad[j] - q, below = q - m->joint_min_rad[j], near = least(above, below);
        l->unhealthy += near < -0.026;
        if (turn != 0.0) {
            double wound = g->motor_joint_rad_s[by], went = clip(s->joint_speed_rad_s[by], least(wound, 0.0), most(wound, 0.0));
            double along = turn * wound, left = joint[b] - turn * (wound - went);
            rising = most(rising, most(along, left)), falling = least(falling, least(along, left));
        }
        double noise = clip(2.0 * calm - 50.0 * near, calm, 2.0 * calm), care = share * m->joint_care_rad[j];
        double upward = most(joint[b], rising - noise), downward = -least(joint[b], falling + noise);
        if (near < 3.0 * care) {
            double kept = 0.5 * (3.0 * care - near);
            if (kept > care)
                kept = care + least(6.0 * most(care - 0.1 * end - most(near, 0.0), 0.0), 0.05);
            above -= kept, below -= kept;
        }
        up[b] = least(stop_speed(above, upward, m->joint_brake_rad_s2[j], end), top) - upward;
        down[b] = least(stop_speed(below, downward, m->joint_brake_rad_s2[j], end), top) - downward;
    }
    for (int k = 0; k < n->tendons; k++) {
        int t = n->t[k], i = n->i[k];
        double x = l->wanted[t], top = m->motor_torque_limit_nm[i], radius = m->spool_radius_m[t], hold = radius * s->tension_n[t];
        double wind = 1e9, unwind = 1e9, friction = 0.5 * PI * m->friction_gamma_2_nm[i], moved = 0.0;
        for (int b = 0; b < n->joints; b++) {
            double arm = n->P[b][k], turn = fabs(arm) / radius;
            moved += arm * joint[b];
            if (arm > 0.0)
                wind = least(wind, turn * down[b]), unwind = least(unwind, turn * up[b]);
            else if (arm < 0.0)
                wind = least(wind, turn * up[b]), unwind = least(unwind, turn * down[b]);
        }
        x = clip(x, least(hold - friction - 3.0 * unwind, top), most(hold + friction + 3.0 * wind, -top));
        double load0 = g->wrist_load[0], load1 = g->wrist_load[1], room = 1e9;
        if (fabs(load0) > 0.5 && load0 * m->wrist_arm_m[t][0] < 0.0)
            room = least(room, 10.0 * (1.0 - fabs(load0)) - s->motor_speed_rad_s[i]);
        if (fabs(load1) > 0.5 && load1 * m->wrist_arm_m[t][1] < 0.0)
            room = least(room, 10.0 * (1.0 - fabs(load1)) - s->motor_speed_rad_s[i]);
        x = least(x, most(hold + 3.0 * room, -top));
        double e = s->elongation_m[t], brake = 0.5 * radius * 2.0 * top, swift = 3.0 * quickest;
        double way = least(m->elongation_max_m[t] - e, e - m->elongation_min_m[t]) - 0.005 * swift, speed = swift + radius * 2.0 * top / 3.0;
        if (!(way > 0.0 && brake * way > speed * speed * m->motor_inertia_kg_m2[i])) {
            double stretching = path[k] + most(moved, 0.0), letting = path[k] + least(moved, 0.0), a = 0.5 * top / m->motor_inertia_kg_m2[i] * radius;
            double tight = m->elongation_max_m[t] - e - 0.005 * most(stretching, 0.0), loose = e - m->elongation_min_m[t] - 0.005 * most(-letting, 0.0);
            double to_tight = copysign(least(sqrt(2.0 * a * fabs(tight)), 150.0 * fabs(tight)), tight) - stretching;
            double to_loose = copysign(least(sqrt(2.0 * a * fabs(loose)), 150.0 * fabs(loose)), loose) + letting;
            x = most(x, least(hold + least(-3.0 / radius * to_loose, 2.0 * friction), top));
            x = least(x, most(hold + 3.0 / radius * to_tight, -top));
        }
        double fast = m->motor_speed_limit_rad_s[i], w = s->motor_speed_rad_s[i], kt = m->motor_torque_constant_nm_a[i];
        double current = g->last_torque_nm[i] / kt, heat = 1.5 * m->motor_resistance_ohm[i] * current * current;
        g->winding_degc[i] += m->dt_s * (heat - (g->winding_degc[i] - g->case_degc[i]) / m->thermal_winding_k_w[i]) / m->thermal_winding_j_k[i];
        x = clip(x, -top, top);
        double volt = m->bus_voltage_v[i] / 1.7320508075688772, emf = m->motor_back_emf_v_s_rad[i] * w, per_volt = kt / m->motor_resistance_ohm[i];
        double cap = least(top, kt * m->motor_current_limit_a[i]);
        x = clip(x, least(most(-cap, per_volt * (-volt - emf)), 0.0), most(least(cap, per_volt * (volt - emf)), 0.0));
        double step = m->torque_rate_nm_s * m->dt_s;
        x = clip(x, g->last_torque_nm[i] - step, g->last_torque_nm[i] + step);
        l->unhealthy += !isfinite(x) || fabs(w) > fast || s->tension_n[t] > m->tension_limit_n[t] || g->winding_degc[i] > m->winding_limit_degc[0];
        g->last_torque_nm[i] = x;
        u->motor_current_a[i] = x / kt;
        u->motor_angle_rad[i] = s->motor_angle_rad[i];
        u->motor_mode[i] = MOTOR_CURRENT;
    }
    (void)z;
}

/* What does not change, from the model. */
struct lean *lean_new(const struct model *m)
{
    struct lean *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->fingers = (int)m->n_fingers, l->tendons = (int)m->n_tendons, l->axes = (int)m->n_axes, l->ripples = (int)m->n_ripples;
    l->share_wrist = 1.0 - exp(-2.0 * PI * 20.0 * m->dt_s), l->share_feedback = 1.0 - exp(-2.0 * PI * 4.0 * m->dt_s);
    l->fade = exp(-m->dt_s / 0.05);
    for (int h = 0; h < l->ripples; h++)
        for (int i = 0; i < (int)m->n_motors; i++) {
            l->order[h][i] = m->ripple_order[h] * (m->ripple_is_input[h] ? m->gear_ratio[i] : 1.0);
            l->amplitude[h][i] = m->ripple_amplitude_nm[i][h], l->phase[h][i] = m->ripple_phase_rad[i][h];
        }
    for (int f = 0; f < l->fingers; f++) {
        struct finger *g = &l->finger[f];
        g->tendons = (int)m->finger_n_tendons[f], g->joints = (int)m->finger_n_joints[f];
        g->base = m->finger_kind[f] == TENSEGRITY, g->first = g->base ? 2 : 0;
        for (int b = 0; b < g->joints; b++)
            g->j[b] = (int)m->finger_joint[f][b];
        for (int k = 0; k < g->tendons; k++) {
            int t = g->t[k] = (int)m->finger_tendon[f][k];
            g->i[k] = (int)m->tendon_motor[t], g->insertion[k] = m->tendon_kind[t] == INSERTION;
            for (int b = 0; b < g->joints; b++)
                g->P[b][k] = m->P_tj_m[t][g->j[b]], g->pinv[b][k] = m->pinv_jt_1_m[g->j[b]][t];
        }
    }
    return l;
}

/* One tick; returns how much was not healthy so far. */
int64_t lean_tick(struct lean *l, const struct model *m, const struct measurement *z, const struct goal *w, struct estimator *e,
                  struct controller *c, struct guard *g, struct state *s, struct command *u)
{
    motors(l, m, z, e, s);
    springs(l, m, z, e, s);
    wrist(l, m, z, e, g, s);
    angles(l, m, e, s);
    axes(l, m, w, c, u);
    ripples(l, m, s);
    for (int f = 0; f < l->fingers; f++) {
        control(l, m, w, c, s, f);
        limit(l, m, z, g, s, u, f);
    }
    return l->unhealthy;
}

/* Ticks through a stretch of measurements and goals; their commands. */
int64_t lean_run(struct lean *l, const struct model *m, const struct measurement *z, const struct goal *w, struct estimator *e,
                 struct controller *c, struct guard *g, struct state *s, struct command *u, int64_t length, int64_t ticks)
{
    l->unhealthy = 0;
    for (int64_t k = 0; k < ticks; k++)
        lean_tick(l, m, z + k % length, w + k % length, e, c, g, s, u + k);
    return l->unhealthy;
}

static void *take(FILE *file, size_t size)
{
    void *part = malloc(size);
    if (!part || fread(part, size, 1, file) != 1)
        exit(1);
    return part;
}

/* lean STRETCH LENGTH TICKS: ticks through a stretch and nothing else, to be counted. */
int main(int argc, char **argv)
{
    if (argc != 4)
        return 1;
    FILE *file = fopen(argv[1], "rb");
    size_t length = (size_t)atoll(argv[2]);
    if (!file)
        return 1;
    struct model *m = take(file, sizeof *m);
    struct estimator *e = take(file, sizeof *e);
    struct controller *c = take(file, sizeof *c);
    struct guard *g = take(file, sizeof *g);
    struct state *s = take(file, sizeof *s);
    struct measurement *z = take(file, length * sizeof *z);
    struct goal *w = take(file, length * sizeof *w);
    struct lean *l = lean_new(m);
    struct command u = {0};
    int64_t ticks = atoll(argv[3]), unhealthy = 0;
    struct estimator e0 = *e;
    struct controller c0 = *c;
    struct guard g0 = *g;
    struct state s0 = *s;
    for (int64_t k = 0; k < ticks; k++) {
        size_t at = (size_t)k % length;
        if (at == 0)
            *e = e0, *c = c0, *g = g0, *s = s0;
        unhealthy = lean_tick(l, m, z + at, w + at, e, c, g, s, &u);
    }
    printf("%lld %.17g\n", (long long)unhealthy, u.motor_current_a[0]);
    return 0;
}
