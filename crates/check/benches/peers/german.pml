/* German's cache protocol by hand, with the rules as published; the same rules, in the same order, as in
 * crates/check/tests/rumur/german.m, and the same numbers of states.  N clients (3 unless -DN=4 is given), two values.
 * Each rule is one step of SPIN. */
#ifndef N
#define N 3
#endif

#if N == 3
#define EACH(DO) DO(0) DO(1) DO(2)
#define ALL(IS) (IS(0) && IS(1) && IS(2))
#define CLIENTS CLIENT(0) CLIENT(1) CLIENT(2)
#else
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define ALL(IS) (IS(0) && IS(1) && IS(2) && IS(3))
#define CLIENTS CLIENT(0) CLIENT(1) CLIENT(2) CLIENT(3)
#endif

/* Plain numbers: SPIN numbers the names of an mtype from 1, and nothing here should cost more than it must. */
#define I 0
#define S 1
#define E 2
#define Empty 0
#define ReqS 1
#define ReqE 2
#define Inv 3
#define InvAck 4
#define GntS 5
#define GntE 6

byte state[N], chan1[N], chan2[N], chan3[N], cur, ptr;
bit data[N], data2[N], data3[N], inv[N], shr[N], exg, mem, aux;

#define INVALIDATE_SHARER(j) inv[j] = shr[j];
#define FORGET(j) inv[j] = 0;
#define NOT_SHARED(j) !shr[j]

#define STORE(i, d) d_step { state[i] == E -> data[i] = d; aux = d }
#define ASK(i, what, unless) d_step { chan1[i] == Empty && unless -> chan1[i] = what }
#define RECEIVE_REQUEST(i, what) \
    d_step { cur == Empty && chan1[i] == what -> cur = what; ptr = i; chan1[i] = Empty; EACH(INVALIDATE_SHARER) }
#define INVALIDATE(i) \
    d_step { chan2[i] == Empty && inv[i] && (cur == ReqE || cur == ReqS && exg) -> chan2[i] = Inv; inv[i] = 0 }
#define ACKNOWLEDGE(i) \
    d_step { chan2[i] == Inv && chan3[i] == Empty -> chan2[i] = Empty; chan3[i] = InvAck; \
        if :: state[i] == E -> data3[i] = data[i] :: else fi; state[i] = I; data[i] = 0 }
#define RECEIVE_ACKNOWLEDGEMENT(i) \
    d_step { chan3[i] == InvAck && cur != Empty -> chan3[i] = Empty; shr[i] = 0; \
        if :: exg -> exg = 0; mem = data3[i] :: else fi; data3[i] = 0 }
#define GRANT_SHARED(i) \
    d_step { cur == ReqS && ptr == i && chan2[i] == Empty && !exg -> \
        chan2[i] = GntS; data2[i] = mem; shr[i] = 1; cur = Empty; ptr = 0; EACH(FORGET) }
#define GRANT_EXCLUSIVE(i) \
    d_step { cur == ReqE && ptr == i && chan2[i] == Empty && !exg && ALL(NOT_SHARED) -> \
        chan2[i] = GntE; data2[i] = mem; shr[i] = 1; exg = 1; cur = Empty; ptr = 0; EACH(FORGET) }
#define RECEIVE_GRANT(i, what, becomes) \
    d_step { chan2[i] == what -> state[i] = becomes; data[i] = data2[i]; chan2[i] = Empty; data2[i] = 0 }

#define CLIENT(i) \
    :: STORE(i, 0) :: STORE(i, 1) \
    :: ASK(i, ReqS, state[i] == I) :: ASK(i, ReqE, state[i] != E) \
    :: RECEIVE_REQUEST(i, ReqS) :: RECEIVE_REQUEST(i, ReqE) \
    :: INVALIDATE(i) :: ACKNOWLEDGE(i) :: RECEIVE_ACKNOWLEDGEMENT(i) \
    :: GRANT_SHARED(i) :: GRANT_EXCLUSIVE(i) \
    :: RECEIVE_GRANT(i, GntS, S) :: RECEIVE_GRANT(i, GntE, E)

/* Where one client is exclusive, all others are invalid; what is valid is the newest value. */
#define VALID(i) (state[i] == I || data[i] == aux)
#define INVALID(i) + (state[i] == I)
#define EXCLUSIVE(i) + (state[i] == E)
#define COHERENT ((0 EACH(EXCLUSIVE)) == 0 || (0 EACH(EXCLUSIVE)) == 1 && (0 EACH(INVALID)) == N - 1)

init {
    if :: d_step { mem = 0; aux = 0 } :: d_step { mem = 1; aux = 1 } fi;
    do
    CLIENTS
    :: d_step { !(COHERENT && (exg || mem == aux) && ALL(VALID)) -> assert(false) }
    od
}
