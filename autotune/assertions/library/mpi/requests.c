/* Requests of receives, which say when they are complete how much came and from whom, and of
 * persistent messages, which are counted whenever they are started. */
#include "counting.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ma_kept {
    uintptr_t handle;
    struct ma_kept *next;
    enum ma_kind kind;
    const char *call, *operation;
    struct ma_ranks *ranks; /* of a receive whose message says its size; NULL: size is known */
    struct ma_claim claim;  /* of such a receive that is under way */
    int64_t size;
    int peer;
    unsigned char persistent, active, matched; /* matched: a message of MPI_Mprobe, no request */
};

enum { FIRST_BUCKETS = 256, CHUNK = 64, MOST_KEPT = 1 << 20 };

size_t ma_kept_requests; /* in the table now, or taken out for a while */

static struct ma_kept **buckets, *unused;
static size_t bucket_count, in_table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- the table, under the lock ----------------------------------------------------------------- */

static size_t bucket_of(uintptr_t handle)
{
    return (size_t)(((uint64_t)handle * 0x9E3779B97F4A7C15u) >> 32) & (bucket_count - 1);
}

static void link_in(struct ma_kept *kept)
{
    struct ma_kept **bucket = &buckets[bucket_of(kept->handle)];
    kept->next = *bucket;
    *bucket = kept;
    in_table++;
}

static void grow(void)
{
    struct ma_kept **old = buckets;
    size_t old_count = bucket_count;
    bucket_count = old_count ? 2 * old_count : FIRST_BUCKETS;
    buckets = calloc(bucket_count, sizeof *buckets);
    in_table = 0;
    for (size_t i = 0; i < old_count; i++)
        for (struct ma_kept *kept = old[i], *next; kept; kept = next) {
            next = kept->next;
            link_in(kept);
        }
    free(old);
}

static struct ma_kept **find(uintptr_t handle, int matched)
{
    if (!bucket_count) return NULL;
    for (struct ma_kept **at = &buckets[bucket_of(handle)]; *at; at = &(*at)->next)
        if ((*at)->handle == handle && (*at)->matched == matched) return at;
    return NULL;
}

static struct ma_kept *take_out(uintptr_t handle, int matched)
{
    struct ma_kept **at = find(handle, matched), *kept = NULL;
    if (at) {
        kept = *at;
        *at = kept->next;
        in_table--;
    }
    return kept;
}

static void discard(struct ma_kept *kept)
{
    ma_drop_ranks(kept->ranks);
    kept->next = unused;
    unused = kept;
    ma_kept_requests--;
}

/* --- the same for callers ---------------------------------------------------------------------- */

static void insert(struct ma_kept entry)
{
    if (ma_kept_requests >= MOST_KEPT) {
        if (entry.active) ma_renounce(&entry.claim);
        ma_loss("receives and persistent messages beyond 1,048,576 at a time", 1);
        return;
    }
    pthread_mutex_lock(&lock);
    struct ma_kept *stale = take_out(entry.handle, entry.matched);
    if (stale) discard(stale); /* MPI gave the handle away again: what it was has ended unseen */
    if (in_table >= bucket_count) grow();
    if (!unused) {
        struct ma_kept *chunk = calloc(CHUNK, sizeof *chunk);
        for (int i = 0; i < CHUNK; i++) {
            chunk[i].next = unused;
            unused = &chunk[i];
        }
    }
    struct ma_kept *kept = unused;
    unused = kept->next;
    *kept = entry;
    ma_share_ranks(kept->ranks);
    ma_kept_requests++;
    link_in(kept);
    pthread_mutex_unlock(&lock);
    if (stale) ma_loss("requests that ended without being seen", 1);
}

static uintptr_t handle_of(int i, const MPI_Request *requests, const MPI_Fint *of_fortran)
{
    return (uintptr_t)(requests ? requests[i] : PMPI_Request_f2c(of_fortran[i]));
}

void ma_keep(MPI_Request request, enum ma_kind kind, const char *call, const char *operation,
             int64_t size, int peer)
{
    if (peer == NOBODY) return;
    insert((struct ma_kept){.handle = (uintptr_t)request, .kind = kind, .call = call,
                            .operation = operation, .size = size, .peer = peer,
                            .persistent = 1});
}

void ma_expect(MPI_Request request, const char *call, struct ma_ranks *ranks, int persistent)
{
    if (!ranks) return; /* a message of MPI_MESSAGE_NO_PROC, or one that was not seen */
    struct ma_kept entry = {.handle = (uintptr_t)request, .kind = MA_RECV, .call = named(call),
                            .operation = "", .ranks = ranks, .persistent = persistent != 0,
                            .active = !persistent};
    if (!persistent) entry.claim = ma_take_claim(MA_RECV, "");
    insert(entry);
}

void ma_start(int number, const MPI_Request *requests, const MPI_Fint *of_fortran)
{
    for (int i = 0; i < number; i++) {
        pthread_mutex_lock(&lock);
        struct ma_kept **at = find(handle_of(i, requests, of_fortran), 0);
        struct ma_kept *kept = at ? *at : NULL;
        pthread_mutex_unlock(&lock);
        if (!kept) continue;
        if (kept->ranks) {
            kept->claim = ma_take_claim(kept->kind, kept->operation);
            kept->active = 1;
        } else {
            ma_message(kept->kind, kept->call, kept->operation, kept->size, 1, kept->peer);
        }
    }
}

void ma_release(const MPI_Request *request, const MPI_Fint *of_fortran)
{
    pthread_mutex_lock(&lock);
    struct ma_kept *kept = take_out(handle_of(0, request, of_fortran), 0);
    int lost = kept && kept->active;
    if (kept) discard(kept);
    pthread_mutex_unlock(&lock);
    if (lost) ma_loss("receives that were freed before they were complete", 1);
}

void ma_abandon_requests(void)
{
    int64_t lost = 0;
    for (size_t i = 0; i < bucket_count; i++)
        for (struct ma_kept *kept = buckets[i]; kept; kept = kept->next)
            if (kept->active) {
                ma_renounce(&kept->claim);
                lost++;
            }
    if (lost) ma_loss("receives that were not complete at the end", lost);
}

/* --- matched messages -------------------------------------------------------------------------- */

void ma_probed(MPI_Message message, struct ma_ranks *ranks)
{
    if (message == MPI_MESSAGE_NO_PROC || message == MPI_MESSAGE_NULL) return;
    insert((struct ma_kept){.handle = (uintptr_t)message, .ranks = ranks, .matched = 1});
}

struct ma_ranks *ma_unprobed(MPI_Message message)
{
    pthread_mutex_lock(&lock);
    struct ma_kept *kept = take_out((uintptr_t)message, 1);
    struct ma_ranks *ranks = kept ? kept->ranks : NULL;
    ma_share_ranks(ranks);
    if (kept) discard(kept);
    pthread_mutex_unlock(&lock);
    return ranks;
}

/* --- completion -------------------------------------------------------------------------------- */

static void arrived(const struct ma_claim *claim, const char *call, const struct ma_ranks *ranks,
                    const void *status, int fortran)
{
    MPI_Status converted;
    MPI_Count size = 0;
    int cancelled = 0;
    if (fortran) {
        PMPI_Status_f2c(status, &converted);
        status = &converted;
    }
    PMPI_Test_cancelled(status, &cancelled);
    if (cancelled) {
        ma_renounce(claim);
        return;
    }
    PMPI_Get_elements_x(status, MPI_BYTE, &size);
    int peer = rank_in(ranks, ((const MPI_Status *)status)->MPI_SOURCE);
    ma_settle(claim, MA_RECV, call, "", (int64_t)size, peer == NOBODY ? NO_PEER : peer);
}

void ma_received(const char *call, const struct ma_ranks *ranks, const void *status, int fortran)
{
    MPI_Status converted;
    if (fortran) PMPI_Status_f2c(status, &converted);
    else memcpy(&converted, status, sizeof converted);
    if (!ranks || converted.MPI_SOURCE == MPI_PROC_NULL) return;
    struct ma_claim claim = ma_take_claim(MA_RECV, "");
    arrived(&claim, named(call), ranks, &converted, 0);
}

void ma_take_batch(struct ma_batch *batch, int number, const MPI_Request *requests,
                   const MPI_Fint *of_fortran)
{
    batch->number = number;
    batch->receives = batch->succeeded = 0;
    batch->statuses = NULL;
    batch->kept = number <= MA_BATCH ? batch->few : malloc((size_t)number * sizeof *batch->kept);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < number; i++) {
        batch->kept[i] = take_out(handle_of(i, requests, of_fortran), 0);
        batch->receives += batch->kept[i] && batch->kept[i]->active;
    }
    pthread_mutex_unlock(&lock);
}

void *ma_batch_statuses(struct ma_batch *batch)
{
    return batch->statuses = calloc((size_t)batch->number, sizeof(MPI_Status));
}

void ma_settle_batch(struct ma_batch *batch, int complete, const int *indices, int first,
                     const void *statuses, int fortran)
{
    batch->succeeded = 1;
    for (int i = 0; batch->receives && i < complete; i++) {
        int which = indices ? indices[i] - first : i;
        if (which < 0 || which >= batch->number || !batch->kept[which]) continue;
        struct ma_kept *kept = batch->kept[which];
        if (!kept->active) continue;
        const char *status = (const char *)statuses + (size_t)i * sizeof(MPI_Status);
        if (ma_recording()) arrived(&kept->claim, kept->call, kept->ranks, status, fortran);
        kept->active = 0;
    }
}

void ma_end_batch(struct ma_batch *batch)
{
    int failed = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < batch->number; i++) {
        struct ma_kept *kept = batch->kept[i];
        if (!kept) continue;
        failed += !batch->succeeded && kept->active;
        kept->active &= batch->succeeded;
        if (kept->persistent || kept->active) link_in(kept);
        else discard(kept);
    }
    pthread_mutex_unlock(&lock);
    if (failed) ma_loss("receives that failed", failed);
    if (batch->kept != batch->few) free(batch->kept);
    free(batch->statuses);
}
