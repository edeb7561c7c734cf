/*
 * Ricart and Agrawala's algorithm among four nodes, one request each, for the model checker SPIN.
 *
 * It is the system that our checker explores for `ricart-agrawala`, requests 1,1,1,1, channels of any order: the handlers are
 * indivisible, a REPLY tells its sender's clock, what is in flight is a set. So the numbers of states and of transitions are the
 * same, and the bench refuses to compare if they are not.
 *
 * What follows from the rest of a state is left out, to SPIN's advantage: a node asks once, so at most one REQUEST and one REPLY
 * are in flight from one node to another, and the counter that a REPLY or a deferred request names is that of the one
 * request of the node it is about. Deadlock is not asked for: SPIN would need a further state for each node that is done.
 */

#define N 4

/* Where a node stands. */
#define FRESH    0   /* it has not asked yet */
#define WANTED   1
#define HELD     2
#define RELEASED 3   /* it has been inside, and will not ask again */

byte phase[N];
byte clock[N];
byte stamp[N];       /* the counter of its request while it is WANTED, else 0 */
byte missing[N];     /* a bit for each peer whose REPLY has not come yet */
byte deferred[N];    /* a bit for each peer whose REPLY is held back */
byte request[N * N]; /* from * N + to: the counter of a REQUEST in flight, else 0 */
byte reply[N * N];   /* from * N + to: the clock that a REPLY in flight tells, else 0 */

#define MERGE(heard) clock[_pid] = (clock[_pid] < heard -> heard : clock[_pid])

#define ASK_OF(to) if :: to != _pid -> request[_pid * N + to] = clock[_pid] :: else fi

#define GIVE_BACK(to) if :: deferred[_pid] & (1 << to) -> reply[_pid * N + to] = clock[_pid] :: else fi

#define GOES_FIRST(from) \
    (phase[_pid] == HELD || (phase[_pid] == WANTED && \
        (stamp[_pid] < request[from * N + _pid] || (stamp[_pid] == request[from * N + _pid] && _pid < from))))

#define ON_REQUEST(from) \
    d_step { \
        request[from * N + _pid] != 0 -> \
        MERGE(request[from * N + _pid]); \
        if \
        :: GOES_FIRST(from) -> deferred[_pid] = deferred[_pid] | (1 << from) \
        :: else -> reply[_pid * N + from] = clock[_pid] \
        fi; \
        request[from * N + _pid] = 0 \
    }

#define ON_REPLY(from) \
    d_step { \
        reply[from * N + _pid] != 0 -> \
        assert(phase[_pid] == WANTED && (missing[_pid] & (1 << from))); \
        MERGE(reply[from * N + _pid]); \
        reply[from * N + _pid] = 0; \
        missing[_pid] = missing[_pid] & ~(1 << from); \
        if \
        :: missing[_pid] == 0 -> \
            phase[_pid] = HELD; \
            stamp[_pid] = 0; \
            assert((phase[0] == HELD) + (phase[1] == HELD) + (phase[2] == HELD) + (phase[3] == HELD) == 1) \
        :: else \
        fi \
    }

active [N] proctype node()
{
end:
    do
    :: d_step {
        phase[_pid] == FRESH ->
        clock[_pid] = clock[_pid] + 1;
        phase[_pid] = WANTED;
        stamp[_pid] = clock[_pid];
        missing[_pid] = 15 - (1 << _pid);
        ASK_OF(0); ASK_OF(1); ASK_OF(2); ASK_OF(3)
    }
    :: d_step {
        phase[_pid] == HELD ->
        phase[_pid] = RELEASED;
        GIVE_BACK(0); GIVE_BACK(1); GIVE_BACK(2); GIVE_BACK(3);
        deferred[_pid] = 0
    }
    :: ON_REQUEST(0)
    :: ON_REQUEST(1)
    :: ON_REQUEST(2)
    :: ON_REQUEST(3)
    :: ON_REPLY(0)
    :: ON_REPLY(1)
    :: ON_REPLY(2)
    :: ON_REPLY(3)
    od
}
