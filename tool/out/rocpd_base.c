#include "rocpd_base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "out.h"
#include "process.h"
#include "rocpd_schema.h"
#include "writer.h"

/* Numbers of rows in a transaction: long ones are fast, and short ones lose less. */
enum { TRANSACTION_ROWS = 65536 };

/* Of each kind of rows the table, the columns that are given a value, and how, where that is not
 * just the parameter. Columns that are left out have their default. */
static const struct {
    const char *table, *columns, *values;
} layouts[] = {
    [ROCPD_STRING] = {"string", "id,string", NULL},
    [ROCPD_NODE] = {"info_node",
                    "id,hash,machine_id,system_name,hostname,release,version,hardware_name,"
                    "domain_name",
                    NULL},
    [ROCPD_PROCESS] = {"info_process", "id,nid,ppid,pid,init,start,command,environment,extdata",
                       NULL},
    [ROCPD_THREAD] = {"info_thread", "id,nid,ppid,pid,tid,name", NULL},
    [ROCPD_AGENT] = {"info_agent",
                     "id,nid,pid,type,absolute_index,logical_index,type_index,uuid,name,model_name,"
                     "vendor_name,product_name,user_name,extdata",
                     NULL},
    [ROCPD_QUEUE] = {"info_queue", "id,nid,pid,name", NULL},
    [ROCPD_STREAM] = {"info_stream", "id,nid,pid,name", NULL},
    [ROCPD_PMC] = {"info_pmc",
                   "id,nid,pid,agent_id,target_arch,event_code,instance_id,name,symbol,description,"
                   "component,value_type,block,expression,is_constant,is_derived,extdata",
                   NULL},
    [ROCPD_CODE_OBJECT] = {"info_code_object",
                           "id,nid,pid,agent_id,uri,load_base,load_size,load_delta,storage_type,"
                           "extdata",
                           "?,?,?,?,?,?,?,?,?,json_object('size',?,'storage_type',?,"
                           "'memory_base',?,'memory_size',?)"},
    [ROCPD_KERNEL_SYMBOL] = {"info_kernel_symbol",
                             "id,nid,pid,code_object_id,kernel_name,display_name,kernel_object,"
                             "kernarg_segment_size,kernarg_segment_alignment,group_segment_size,"
                             "private_segment_size,sgpr_count,arch_vgpr_count,accum_vgpr_count,"
                             "extdata",
                             "?,?,?,?,?,?,?,?,?,?,?,?,?,?,json_object('size',?,'kernel_id',?,"
                             "'kernel_code_entry_byte_offset',?,'formatted_kernel_name',?,"
                             "'demangled_kernel_name',?,'truncated_kernel_name',?,"
                             "'kernel_address',json_object('handle',?))"},
    [ROCPD_TRACK] = {"track", "id,nid,pid,tid,name_id", NULL},
    [ROCPD_MARKER_EVENT] = {"event", "category_id,stack_id,parent_stack_id,correlation_id,extdata",
                            "?,?,?,?,json_object('message',?)"},
    [ROCPD_KFD_EVENT] = {"event", "category_id,extdata", NULL},
    [ROCPD_HIP_EVENT] = {"event", "category_id,stack_id,parent_stack_id,correlation_id,extdata",
                         NULL},
    [ROCPD_GRAPH_EVENT] = {"event", "category_id,stack_id,parent_stack_id,correlation_id,extdata",
                           "?,?,?,?,json_object('graph_exec_id',?,'kernel_dispatch_count',?,"
                           "'agent_id',?,'queue_id',?)"},
    [ROCPD_ALLOCATE] = {"memory_allocate",
                        "nid,pid,tid,agent_id,type,level,start,\"end\",address,size,queue_id,"
                        "stream_id,event_id,extdata",
                        NULL},
    /* From here on rows go in by batches. Without an id they get the next one, and SQLite does not
     * look for a row that has it already. With one, the columns are the table's first ones in its
     * order: that spares a copy of each value. */
    [ROCPD_EVENT] = {"event", "guid,category_id,stack_id,parent_stack_id,correlation_id", NULL},
    [ROCPD_PMC_EVENT] = {"pmc_event", "guid,event_id,pmc_id,value", NULL},
    [ROCPD_REGION] = {"region", "guid,nid,pid,tid,start,\"end\",name_id,event_id", NULL},
    [ROCPD_SAMPLE] = {"sample", "guid,track_id,timestamp,event_id", NULL},
    [ROCPD_DISPATCH] =
        {"kernel_dispatch",
         "id,guid,nid,pid,tid,agent_id,kernel_id,dispatch_id,queue_id,stream_id,start,"
         "\"end\",private_segment_size,group_segment_size,workgroup_size_x,"
         "workgroup_size_y,workgroup_size_z,grid_size_x,grid_size_y,grid_size_z,"
         "region_name_id,event_id,extdata",
         NULL},
    [ROCPD_COPY] = {"memory_copy",
                    "guid,nid,pid,tid,start,\"end\",name_id,dst_agent_id,dst_address,src_agent_id,"
                    "src_address,size,queue_id,stream_id,region_name_id,event_id",
                    NULL},
    [ROCPD_ARG] = {"arg", "guid,event_id,position,type,name,value", NULL},
};
enum { PMC_VALUE_COLUMN = 2 };

/* How many of the last columns are texts. */
static const uint32_t text_columns[ROCPD_ROWS_COUNT] = {[ROCPD_DISPATCH] = 1, [ROCPD_ARG] = 3};

static void check(struct rocpd_base *base, int status)
{
    if (status == SQLITE_OK || base->failure[0])
        return;
    /* "disk I/O error" alone does not say what to do: a size limit, a quota, a broken disk. */
    int class = status & 0xff;
    int cause = class == SQLITE_IOERR || class == SQLITE_CANTOPEN
                    ? sqlite3_system_errno(base->database)
                    : 0;
    snprintf(base->failure, sizeof base->failure, "%s%s%s", sqlite3_errmsg(base->database),
             cause ? ": " : "", cause ? strerror(cause) : "");
}

static void run(struct rocpd_base *base, const char *sql)
{
    check(base, sqlite3_exec(base->database, sql, NULL, NULL, NULL));
}

/* Version 7: milliseconds since 1970, then chance. */
static void guid_make(char guid[37])
{
    uint8_t bytes[16];
    uint64_t now_ms = clock_read_ns(CLOCK_REALTIME) / 1000000;
    if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != (ssize_t)sizeof bytes) {
        uint64_t chance[2] = {clock_now_ns() * 0x9e3779b97f4a7c15u, (uint64_t)getpid() << 32};
        memcpy(bytes, chance, sizeof bytes);
    }
    for (int i = 0; i < 6; i++)
        bytes[i] = (uint8_t)(now_ms >> (40 - 8 * i));
    bytes[6] = (uint8_t)(0x70 | (bytes[6] & 0x0f));
    bytes[8] = (uint8_t)(0x80 | (bytes[8] & 0x3f));
    char *at = guid;
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

/* The part of tables' names that is this file's own. */
static void suffix_make(const char *guid, char suffix[38])
{
    snprintf(suffix, 38, "_%s", guid);
    for (char *at = suffix; (at = strchr(at, '-'));)
        *at = '_';
}

/* A statement of the schema, with its variables filled in; NULL: no memory. */
static char *statement_fill(const char *sql, const char *guid, const char *suffix)
{
    sqlite3_str *filled = sqlite3_str_new(NULL);
    for (const char *at; (at = strstr(sql, "{{")); sql = at + strlen("{{guid}}")) {
        sqlite3_str_append(filled, sql, (int)(at - sql));
        sqlite3_str_appendall(filled, strncmp(at, "{{guid}}", 8) == 0 ? guid : suffix);
    }
    sqlite3_str_appendall(filled, sql);
    return sqlite3_str_finish(filled);
}

static void statement_run(struct rocpd_base *base, const char *statement, const char *suffix)
{
    char *sql = statement_fill(statement, base->guid, suffix);
    check(base, sql ? SQLITE_OK : SQLITE_NOMEM);
    if (sql)
        run(base, sql);
    sqlite3_free(sql);
}

static void schema_make(struct rocpd_base *base, const char *suffix)
{
    for (size_t i = 0; i < sizeof rocpd_schema / sizeof rocpd_schema[0]; i++)
        statement_run(base, rocpd_schema[i], suffix);
}

/* The same columns with the same defaults, and nothing for SQLite to look at in each row: no types
 * to bring values into, no constraints, no largest number to remember. All values are of their
 * columns' types by construction. NULL: no memory. */
static char *lean_make(struct rocpd_base *base, const char *table)
{
    sqlite3_stmt *columns = NULL;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    check(base, sqlite3_prepare_v2(base->database,
                                   "SELECT name, type, dflt_value, pk FROM pragma_table_info(?)",
                                   -1, &columns, NULL));
    sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    sqlite3_str_appendf(sql, "CREATE TABLE \"%w\" (", table);
    for (int i = 0; sqlite3_step(columns) == SQLITE_ROW; i++) {
        const char *type = (const char *)sqlite3_column_text(columns, 1);
        const char *value = (const char *)sqlite3_column_text(columns, 2);
        sqlite3_str_appendf(sql, "%s\"%w\"%s%s%s", i ? "," : "",
                            (const char *)sqlite3_column_text(columns, 0),
                            sqlite3_column_int(columns, 3)      ? " INTEGER PRIMARY KEY"
                            : type && strcmp(type, "REAL") == 0 ? " REAL"
                                                                : "",
                            value ? " DEFAULT " : "", value ? value : "");
    }
    sqlite3_finalize(columns);
    sqlite3_str_appendall(sql, ")");
    return sqlite3_str_finish(sql);
}

/* What the file says that a table is; the text that it said before, which is the caller's, or NULL.
 */
static char *schema_say(struct rocpd_base *base, const char *table, const char *sql)
{
    static const char *const statements[] = {"SELECT sql FROM sqlite_schema WHERE name = ?1",
                                             "UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1"};
    char *before = NULL;
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *statement = NULL;
        check(base, sqlite3_prepare_v2(base->database, statements[i], -1, &statement, NULL));
        sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
        if (i == 1)
            sqlite3_bind_text(statement, 2, sql, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW)
            before = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
        check(base, sqlite3_finalize(statement));
    }
    return before;
}

/* "(?,...)", or as the layout says; the guid is the file's. */
static void values_make(const struct rocpd_base *base, enum rocpd_rows rows, char *values,
                        size_t size)
{
    const char *given = layouts[rows].values;
    int length = snprintf(values, size, "(%s", given ? given : "");
    for (const char *at = layouts[rows].columns; *at && !layouts[rows].values;) {
        size_t name = strcspn(at, ",");
        bool is_guid = strncmp(at, "guid,", 5) == 0;
        length += snprintf(values + length, size - (size_t)length, "%s%s%s%s", is_guid ? "'" : "?",
                           is_guid ? base->guid : "", is_guid ? "'" : "", at[name] ? "," : "");
        at += name + (at[name] == ',');
    }
    snprintf(values + length, size - (size_t)length, ")");
}

static void inserts_compile(struct rocpd_base *base, const char *suffix)
{
    for (int rows = 0; rows < ROCPD_ROWS_COUNT && !base->failure[0]; rows++) {
        char head[1024], values[512];
        /* OR FAIL: a failure ends the writing in any case, and SQLite need not be able to take back
         * the rows of one statement. */
        snprintf(head, sizeof head / 2, "INSERT OR FAIL INTO \"rocpd_%s%s\" (%s) VALUES ",
                 layouts[rows].table, suffix, layouts[rows].columns);
        values_make(base, (enum rocpd_rows)rows, values, sizeof values);
        if (rows >= ROCPD_SINGLE_COUNT) {
            struct batch *batch = &base->batches[rows - ROCPD_SINGLE_COUNT];
            batch->real_column = rows == ROCPD_PMC_EVENT ? PMC_VALUE_COLUMN : -1;
            batch->text_columns = text_columns[rows];
            check(base, batch_open(batch, base->database, head, values));
            continue;
        }
        strcat(head, values);
        check(base, sqlite3_prepare_v2(base->database, head, -1, &base->insert[rows], NULL));
    }
}

/*
 * The tables that rows go into by batches are lean while their inserts are compiled, and what the
 * schema says again afterwards: SQLite believes what it has read until the schema's number changes.
 */
static void inserts_prepare(struct rocpd_base *base, const char *suffix)
{
    enum { BATCHES = ROCPD_ROWS_COUNT - ROCPD_SINGLE_COUNT };
    char *schema[BATCHES] = {NULL}, table[BATCHES][96];
    run(base, "PRAGMA writable_schema=ON");
    for (int i = 0; i < BATCHES; i++) {
        snprintf(table[i], sizeof table[i], "rocpd_%s%s", layouts[ROCPD_SINGLE_COUNT + i].table,
                 suffix);
        char *lean = lean_make(base, table[i]);
        schema[i] = lean ? schema_say(base, table[i], lean) : NULL;
        check(base, schema[i] ? SQLITE_OK : SQLITE_NOMEM);
        sqlite3_free(lean);
    }
    run(base, "PRAGMA writable_schema=RESET"); /* forgets what it has read */
    inserts_compile(base, suffix);
    run(base, "PRAGMA writable_schema=ON");
    for (int i = 0; i < BATCHES; i++) {
        if (schema[i])
            sqlite3_free(schema_say(base, table[i], schema[i]));
        sqlite3_free(schema[i]);
    }
    run(base, "PRAGMA writable_schema=OFF");
}

static void database_close(struct rocpd_base *base)
{
    for (int rows = 0; rows < ROCPD_ROWS_COUNT; rows++)
        if (rows < ROCPD_SINGLE_COUNT)
            sqlite3_finalize(base->insert[rows]);
        else
            batch_close(&base->batches[rows - ROCPD_SINGLE_COUNT]);
    check(base, sqlite3_close(base->database));
}

int rocpd_base_open(struct rocpd_base *base, const char *prefix, char *error, size_t error_size)
{
    char suffix[38];
    *base = (struct rocpd_base){0};
    snprintf(base->path, sizeof base->path, "%s_results.db", prefix);
    int file = writer_file_create(base->path);
    if (file < 0) {
        snprintf(error, error_size, "%s: %s", base->path, strerror(-file));
        return file;
    }
    close(file);
    guid_make(base->guid);
    suffix_make(base->guid, suffix);
    /* One thread and no other process: without locks. Large pages: rows come in order. What rows
     * refer to is there by construction and is not looked up each time. */
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    int status = sqlite3_open_v2(base->path, &base->database, flags, NULL);
    check(base, status);
    if (status == SQLITE_OK) {
        run(base, "PRAGMA page_size=16384; PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF; "
                  "PRAGMA locking_mode=EXCLUSIVE; PRAGMA secure_delete=OFF; BEGIN");
        schema_make(base, suffix);
        inserts_prepare(base, suffix);
    }
    if (!base->failure[0])
        return 0;
    snprintf(error, error_size, "%s: %s", base->path, base->failure);
    database_close(base);
    return -EIO;
}

void rocpd_recover(const char *prefix)
{
    struct rocpd_base base = {0};
    snprintf(base.path, sizeof base.path, "%s_results.db", prefix);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW;
    if (access(base.path, F_OK) != 0)
        return;
    if (sqlite3_open_v2(base.path, &base.database, flags, NULL) == SQLITE_OK)
        run(&base, "PRAGMA journal_mode=DELETE; SELECT 1 FROM sqlite_schema");
    sqlite3_close(base.database);
}

static void batches_flush(struct rocpd_base *base)
{
    for (int i = 0; i < ROCPD_ROWS_COUNT - ROCPD_SINGLE_COUNT; i++)
        check(base, batch_flush(&base->batches[i]));
}

/* Largest numbers that lean tables have given: they are not given again. */
static void sequences_put(struct rocpd_base *base)
{
    char sql[512], suffix[38];
    suffix_make(base->guid, suffix);
    for (int rows = ROCPD_SINGLE_COUNT; rows < ROCPD_ROWS_COUNT; rows++) {
        const char *table = layouts[rows].table;
        snprintf(
            sql, sizeof sql,
            "INSERT INTO sqlite_sequence(name, seq) SELECT 'rocpd_%s%s', id FROM \"rocpd_%s%s\" "
            "ORDER BY id DESC LIMIT 1",
            table, suffix, table, suffix);
        run(base, sql);
    }
}

void rocpd_base_close(struct rocpd_base *base)
{
    batches_flush(base);
    sequences_put(base);
    /* The journal goes only when others may be there, too. */
    run(base, "COMMIT; PRAGMA locking_mode=NORMAL; PRAGMA journal_mode=DELETE");
    database_close(base);
}

int rocpd_base_status(const struct rocpd_base *base, char *error, size_t error_size)
{
    if (!base->failure[0])
        return 0;
    snprintf(error, error_size, "%s: %s", base->path, base->failure);
    return -EIO;
}

void rocpd_base_amend(struct rocpd_base *base, const char *const *statements, size_t count)
{
    char suffix[38];
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    if (base->failure[0])
        return;
    suffix_make(base->guid, suffix);
    check(base, sqlite3_open_v2(base->path, &base->database, flags, NULL));
    for (size_t i = 0; i < count && !base->failure[0]; i++)
        statement_run(base, statements[i], suffix);
    sqlite3_close(base->database);
}

void rocpd_base_insert(struct rocpd_base *base, enum rocpd_rows rows,
                       const struct rocpd_value *values)
{
    sqlite3_stmt *insert = base->insert[rows];
    if (base->failure[0])
        return;
    for (int i = 0, count = sqlite3_bind_parameter_count(insert); i < count; i++)
        if (values[i].type == ROCPD_IS_INTEGER)
            sqlite3_bind_int64(insert, i + 1, values[i].integer);
        else if (values[i].type == ROCPD_IS_TEXT && values[i].text)
            sqlite3_bind_text(insert, i + 1, values[i].text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_null(insert, i + 1);
    int status = sqlite3_step(insert);
    check(base, status == SQLITE_DONE ? SQLITE_OK : status);
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    base->transaction_rows++;
}

void rocpd_base_put(struct rocpd_base *base, enum rocpd_rows rows, const int64_t *values)
{
    rocpd_base_put_texts(base, rows, values, NULL, 0);
}

void rocpd_base_put_texts(struct rocpd_base *base, enum rocpd_rows rows, const int64_t *values,
                          const char *texts, size_t text_bytes)
{
    if (base->failure[0])
        return;
    check(base, batch_row(&base->batches[rows - ROCPD_SINGLE_COUNT], values, texts, text_bytes));
    base->transaction_rows++;
}

void rocpd_base_flush(struct rocpd_base *base, enum rocpd_rows rows)
{
    check(base, batch_flush(&base->batches[rows - ROCPD_SINGLE_COUNT]));
}

void rocpd_base_commit_now(struct rocpd_base *base)
{
    base->transaction_rows = 0;
    if (base->failure[0])
        return;
    batches_flush(base);
    run(base, "COMMIT; BEGIN");
}

void rocpd_base_commit(struct rocpd_base *base)
{
    if (base->transaction_rows >= TRANSACTION_ROWS && !base->failure[0])
        rocpd_base_commit_now(base);
}

int64_t rocpd_base_dispatch_event(struct rocpd_base *base, int64_t dispatch_id)
{
    sqlite3_stmt *select = NULL;
    int64_t event = 0;
    rocpd_base_flush(base, ROCPD_DISPATCH);
    check(base, sqlite3_prepare_v2(base->database,
                                   "SELECT event_id FROM rocpd_kernel_dispatch WHERE id = ?", -1,
                                   &select, NULL));
    sqlite3_bind_int64(select, 1, dispatch_id);
    if (sqlite3_step(select) == SQLITE_ROW)
        event = sqlite3_column_int64(select, 0);
    sqlite3_finalize(select);
    return event;
}

void rocpd_base_process_end(struct rocpd_base *base, int64_t process_id, int64_t end_ns)
{
    char sql[384], suffix[38];
    suffix_make(base->guid, suffix);
    snprintf(sql, sizeof sql,
             "UPDATE \"rocpd_info_process%s\" SET fini = %lld, \"end\" = %lld WHERE id = %lld",
             suffix, (long long)end_ns, (long long)end_ns, (long long)process_id);
    run(base, sql);
    if (out_process())
        return; /* its clocks were read when it ended */
    snprintf(sql, sizeof sql,
             "UPDATE \"rocpd_info_process%s\" SET extdata = json_insert(extdata, "
             "'$.crocprof_clock[#]', %llu, '$.crocprof_clock[#]', %llu) WHERE id = %lld",
             suffix, (unsigned long long)clock_read_ns(CLOCK_REALTIME),
             (unsigned long long)clock_now_ns(), (long long)process_id);
    run(base, sql);
}

void rocpd_base_json(struct rocpd_base *base, sqlite3_str *to, const char *text)
{
    sqlite3_stmt *quote = NULL;
    check(base, sqlite3_prepare_v2(base->database, "SELECT json_quote(?)", -1, &quote, NULL));
    sqlite3_bind_text(quote, 1, text, -1, SQLITE_STATIC);
    if (sqlite3_step(quote) == SQLITE_ROW)
        sqlite3_str_appendall(to, (const char *)sqlite3_column_text(quote, 0));
    else
        sqlite3_str_appendall(to, "\"\"");
    sqlite3_finalize(quote);
}
