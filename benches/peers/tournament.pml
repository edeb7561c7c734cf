/*
 * Peterson's tournament of four processes, for the model checker SPIN: does process 0 ever starve?
 *
 * It is the system of crates/checker/tests/reference/tournament.rs, step by step: one access to a register each, flag and turn
 * read apart; to leave the remainder and to be inside are steps of their own. Without a claim SPIN stores the same number of
 * states. A process may stay in its remainder for ever: it can make a step there that changes nothing, so that weak fairness
 * (`pan -f`) does not drive it out.
 */

bool flag[6];  /* node * 2 + side; node 0 is the root, 1 and 2 are above the leaves */
bit turn[3];

#define NODE(level) (level == 0 -> 1 + _pid / 2 : 0)
#define SIDE(level) (level == 0 -> _pid % 2 : _pid / 2)

active [4] proctype process()
{
remainder:
    if
    :: !flag[NODE(0) * 2 + SIDE(0)] -> goto remainder  /* as is always so here; SPIN allows no bare step to itself */
    :: true
    fi;

    flag[NODE(0) * 2 + SIDE(0)] = true;
    turn[NODE(0)] = SIDE(0);
read_flag_0:
    if
    :: !flag[NODE(0) * 2 + 1 - SIDE(0)] -> goto level_1
    :: else
    fi;
    if
    :: turn[NODE(0)] != SIDE(0)
    :: else -> goto read_flag_0
    fi;

level_1:
    flag[NODE(1) * 2 + SIDE(1)] = true;
    turn[NODE(1)] = SIDE(1);
read_flag_1:
    if
    :: !flag[NODE(1) * 2 + 1 - SIDE(1)] -> goto inside
    :: else
    fi;
    if
    :: turn[NODE(1)] != SIDE(1)
    :: else -> goto read_flag_1
    fi;

inside:
    skip;
    flag[NODE(1) * 2 + SIDE(1)] = false;
    flag[NODE(0) * 2 + SIDE(0)] = false;
    goto remainder
}

ltl nobody_starves { [] <> (process[0]@remainder || process[0]@inside) }
