/* What the files of the library share. Programs include modeling_assertions.h, not this.
 *
 * The library is compiled with -fvisibility=hidden: only what is marked MA_EXPORT can be seen from
 * outside. Its main thread alone records; what other threads reach is counted as a loss. */
#ifndef MA_INTERNAL_H
#define MA_INTERNAL_H

#include <stdint.h>

#define MA_EXPORT __attribute__((visibility("default")))

enum ma_kind {
    MA_REGION, MA_LOOP, MA_SUB, MA_FLOP, MA_LOAD, MA_STORE, MA_SEND, MA_RECV, MA_COLL,
    MA_KINDS
};

/* --- values: a whole number or fraction (exact), or a real number (values.c) ---------------- */

enum ma_number { MA_EXACT, MA_REAL };

struct ma_value {
    int64_t top, bottom; /* exact: a reduced fraction, bottom >= 1 */
    double real;
    enum ma_number number;
};

/* --- the tree of call paths ------------------------------------------------------------------- */

struct ma_path;

/* 1 where this call is to be recorded: the library is on and this is the main thread. What another
 * thread does is counted as a loss. */
int ma_recording(void);

/* The innermost open path; the root, whose calls are those outside of every path, where none is
 * open. Never NULL while ma_recording(). */
struct ma_path *ma_current(void);

/* --- messages --------------------------------------------------------------------------------- */

/* The assertion that a message answers, taken when the message is posted. A receive whose size is
 * not yet known takes a claim when it is posted and settles it when it completes. */
struct ma_claim {
    struct ma_path *path;  /* where the message was posted */
    struct ma_path *point; /* the assertion; NULL: nothing foretold the message */
    struct ma_value bytes; /* of one message, as asserted */
};

/* Takes the oldest open assertion of this kind (of a coll also: of this operation) within the
 * current path. ``operation`` is that of a coll, such as "allreduce"; "" for send and recv. */
struct ma_claim ma_take_claim(enum ma_kind kind, const char *operation);

/* The message came: of ``bytes`` bytes, to or from ``peer_world_rank`` (rank of MPI_COMM_WORLD; -1:
 * none). ``call`` is the name of MPI's function, a string that stays ("MPI_Irecv"). */
void ma_settle(const struct ma_claim *claim, enum ma_kind kind, const char *call,
               const char *operation, int64_t bytes, int peer_world_rank);

/* The message never came (a receive that was cancelled): its assertion counts as missing. */
void ma_renounce(const struct ma_claim *claim);

/* ``messages`` messages of ``bytes`` bytes each, posted and complete within the current path:
 * a claim and a settlement of every one. */
void ma_message(enum ma_kind kind, const char *call, const char *operation, int64_t bytes,
                int64_t messages, int peer_world_rank);

/* --- the process ------------------------------------------------------------------------------ */

/* Says which rank of how many this process is, and the run: NULL or "" where AUTOTUNE_ASSERT_RUN or
 * the library's own name is to stay. From now on messages are measured. */
void ma_set_rank(int rank, int ranks, const char *run);

/* The name of the run: AUTOTUNE_ASSERT_RUN, or one that this process made. */
const char *ma_run(void);

/* Writes FOLDER/RUN.RANK.json anew. It is complete only at the end of the process: after MPI_Finalize
 * a program may state more and call _exit; once it is aborted it stays incomplete. */
enum ma_moment { MA_FINALIZED, MA_ABORTED, MA_ENDED };
void ma_write_record(enum ma_moment moment);

/* Called at exit before the record is written; NULL: nothing. */
extern void (*ma_before_end)(void);

/* A region marked by MPI_Pcontrol. With a name: level >= 0 begins, level < 0 ends it. Without:
 * ends the one that is open, and begins "pcontrol LEVEL" where level > 0. */
void ma_pcontrol_region(int level, const char *name);

/* Adds ``number`` to the loss of this name; any thread may call it. */
void ma_loss(const char *what, int64_t number);

#endif
