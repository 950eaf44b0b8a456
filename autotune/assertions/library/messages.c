/* Messages: what assertions foretell, first in, first out, and the calls of MPI that came. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

struct expected {
    struct ma_path *point;
    struct ma_value bytes;
    const char *reason; /* the bytes have no value: the messages neither pass nor fail */
    int64_t messages;
};

struct ma_queue {
    enum ma_kind kind;
    const char *operation;
    struct expected *items;
    int first, count, room; /* items[first .. count - 1] are open */
    struct ma_queue *next;
};

static struct ma_queue *queue_of(struct ma_path *path, enum ma_kind kind, const char *operation)
{
    struct ma_queue *queue = path->queues;
    while (queue != NULL && (queue->kind != kind || strcmp(queue->operation, operation) != 0))
        queue = queue->next;
    return queue;
}

/* --- assertions ----------------------------------------------------------------------------- */

static struct ma_queue *queue_made(struct ma_path *path, enum ma_kind kind, const char *operation)
{
    struct ma_queue *queue = queue_of(path, kind, operation);
    if (queue == NULL && (queue = calloc(1, sizeof *queue)) != NULL) {
        queue->kind = kind;
        queue->operation = operation;
        queue->next = path->queues;
        path->queues = queue;
    }
    return queue;
}

static int has_room(struct ma_queue *queue)
{
    static int total; /* of the rooms of all queues */
    if (queue->first == queue->count)
        queue->first = queue->count = 0;
    if (queue->first > 0 && queue->count == queue->room) {
        memmove(queue->items, queue->items + queue->first,
                (size_t)(queue->count - queue->first) * sizeof *queue->items);
        queue->count -= queue->first;
        queue->first = 0;
    }
    if (queue->count < queue->room)
        return 1;
    int room = queue->room * 2 + 4;
    struct expected *items =
        queue->count >= MA_MOST_EXPECTED || total > 16 * MA_MOST_EXPECTED
            ? NULL
            : realloc(queue->items, (size_t)room * sizeof *items);
    if (items == NULL)
        return 0;
    total += room - queue->room;
    queue->items = items;
    queue->room = room;
    return 1;
}

static void append(struct ma_path *path, const struct expected *item)
{
    struct ma_queue *queue = queue_made(path, item->point->kind, item->point->operation);
    if (queue == NULL || !has_room(queue)) {
        item->point->missing += item->messages;
        ma_loss("foretold messages beyond 65,536 that are open at once", item->messages);
        return;
    }
    queue->items[queue->count++] = *item;
}

/* The number of messages that a visit foretells; -1, with the reason, where it has no value. */
static int64_t repetitions(struct ma_path *point, const char **reason)
{
    struct ma_formula *formula = point->repetition;
    ma_refresh(formula);
    if (formula->fault != MA_FINE) {
        *reason = formula->reason;
        return -1;
    }
    if (!ma_is_whole(&formula->value) || formula->value.top < 0) {
        *reason = ma_is_whole(&formula->value) ? "the number of messages is below 0"
                                               : "the number of messages is not whole";
        return -1;
    }
    return formula->value.top;
}

void ma_foretell(struct ma_site *site)
{
    struct ma_path *point = ma_path_at(site);
    struct expected item = {.point = point};
    point->visits++;
    if (point == &ma_lost) {
        ma_loss("visits of paths beyond the first 4,096", 1);
        return;
    }
    point->deepest = 1;
    item.messages = repetitions(point, &item.reason);
    if (item.reason == NULL) {
        ma_refresh(point->formula);
        if (point->formula->fault != MA_FINE)
            item.reason = point->formula->reason;
        item.bytes = point->formula->value;
    }
    if (item.reason != NULL) {
        ma_count_reason(&point->reasons, item.reason, 1);
    } else {
        point->evaluated++;
        ma_add(&point->asserted, &item.bytes, item.messages);
        if (item.messages > 0)
            ma_count(&point->asserted_sizes, &item.bytes, item.messages, MA_MOST_SIZES);
    }
    if (item.messages > 0 && ma_process.is_mpi)
        append(ma_top, &item);
    else if (item.messages > 0 && item.reason == NULL)
        point->missing += item.messages; /* nobody watches MPI, or it was not started yet */
    if (ma_process.events)
        ma_event("foretell", point, -1, -1);
}

void ma_drop_foretold(struct ma_path *path)
{
    for (struct ma_queue *queue = path->queues; queue != NULL; queue = queue->next) {
        for (int i = queue->first; i < queue->count; i++)
            if (queue->items[i].reason == NULL)
                queue->items[i].point->missing += queue->items[i].messages;
        queue->first = queue->count = 0;
    }
}

int64_t ma_still_foretold(const struct ma_path *point)
{
    int64_t number = point->claimed;
    const struct ma_queue *queue = queue_of(point->parent, point->kind, point->operation);
    for (int i = queue == NULL ? 0 : queue->first; queue != NULL && i < queue->count; i++)
        if (queue->items[i].point == point && queue->items[i].reason == NULL)
            number += queue->items[i].messages;
    return number;
}

/* --- calls of MPI --------------------------------------------------------------------------- */

struct ma_path *ma_current(void)
{
    return ma_top;
}

struct ma_claim ma_take_claim(enum ma_kind kind, const char *operation)
{
    struct ma_claim claim = {.path = ma_top};
    struct ma_queue *queue = queue_of(ma_top, kind, operation);
    if (queue == NULL || queue->first == queue->count)
        return claim;
    struct expected *item = &queue->items[queue->first];
    claim.point = item->reason == NULL ? item->point : &ma_lost;
    claim.bytes = item->bytes;
    if (item->reason == NULL)
        item->point->claimed++;
    if (--item->messages == 0)
        queue->first++;
    return claim;
}

static struct ma_call *call_of(struct ma_path *path, enum ma_kind kind, const char *name)
{
    static int count;
    struct ma_call *call = path->calls;
    while (call != NULL &&
           (call->kind != kind || (call->call != name && strcmp(call->call, name) != 0)))
        call = call->next;
    if (call == NULL && count < MA_MOST_CALLS && (call = calloc(1, sizeof *call)) != NULL) {
        count++;
        call->call = ma_intern(name);
        call->kind = kind;
        call->next = path->calls;
        path->calls = call;
    }
    return call;
}

static int has_room_for_peer(struct ma_call *call)
{
    if (call->peer_count == MA_MOST_PEERS)
        return 0;
    if (call->peer_count < call->peer_room)
        return 1;
    int room = call->peer_room * 2 + 2;
    struct ma_peer *peers = realloc(call->peers, (size_t)room * sizeof *peers);
    if (peers == NULL)
        return 0;
    call->peers = peers;
    call->peer_room = room;
    return 1;
}

static void count_peer(struct ma_call *call, int rank, int64_t bytes)
{
    int place = 0;
    while (place < call->peer_count && call->peers[place].rank < rank)
        place++;
    if (place == call->peer_count || call->peers[place].rank != rank) {
        if (!has_room_for_peer(call)) {
            call->other_peers++;
            return;
        }
        memmove(call->peers + place + 1, call->peers + place,
                (size_t)(call->peer_count - place) * sizeof *call->peers);
        call->peers[place] = (struct ma_peer){.rank = rank};
        call->peer_count++;
    }
    call->peers[place].messages++;
    call->peers[place].size += bytes;
}

static void count_call(struct ma_path *path, enum ma_kind kind, const char *name, int64_t bytes,
                       int peer, int foretold)
{
    struct ma_value size = ma_whole_value(bytes);
    struct ma_call *call = path == &ma_lost ? NULL : call_of(path, kind, name);
    if (call == NULL) {
        ma_loss("messages in paths, or of calls, that did not fit", 1);
        return;
    }
    call->messages++;
    call->size += bytes;
    call->to_self += peer >= 0 && peer == ma_process.rank;
    call->unasserted += !foretold;
    ma_count(&call->sizes, &size, 1, MA_MOST_SIZES);
    if (peer >= 0)
        count_peer(call, peer, bytes);
}

void ma_settle(const struct ma_claim *claim, enum ma_kind kind, const char *call,
               const char *operation, int64_t bytes, int peer_world_rank)
{
    struct ma_value measured = ma_whole_value(bytes);
    (void)operation;
    count_call(claim->path, kind, call, bytes, peer_world_rank, claim->point != NULL);
    if (claim->point != NULL && claim->point != &ma_lost) {
        claim->point->claimed--;
        ma_compare_counts(claim->point, &claim->bytes, &measured);
    }
    if (ma_process.events)
        ma_event(call, claim->path, bytes, peer_world_rank);
}

void ma_renounce(const struct ma_claim *claim)
{
    if (claim->point != NULL && claim->point != &ma_lost) {
        claim->point->claimed--;
        claim->point->missing++;
    }
}

void ma_message(enum ma_kind kind, const char *call, const char *operation, int64_t bytes,
                int64_t messages, int peer_world_rank)
{
    for (int64_t i = 0; i < messages; i++) {
        struct ma_claim claim = ma_take_claim(kind, operation);
        ma_settle(&claim, kind, call, operation, bytes, peer_world_rank);
    }
}
