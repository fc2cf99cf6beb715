/* From syntax tree to program: names resolved, dimensions checked, constants folded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/expression_parse.h"
#include "counters/expression_program.h"

/* A value while compiling: a number known now, or a range of workspace slots. */
struct value {
    int is_constant;
    double number;
    uint32_t slot;
    struct counter_shape shape;
};

/* A derived counter already compiled into the program. */
struct known {
    const char *text;
    struct value value;
};

enum { NESTING_MAX = 32, WORKSPACE_MAX = 1 << 20 };

struct compiler {
    struct expr_program *program;
    expr_resolve_fn *resolve;
    void *arg;
    struct expr_error *error;
    const char *stack[NESTING_MAX]; /* texts being compiled, outermost first */
    uint32_t depth;
    struct known *known;
    uint32_t known_count, known_capacity;
};

static int compile_text(struct compiler *c, const char *text, struct value *result);

/* Grows *items so that one more fits; 0 or -1. */
static int reserve(void *items, uint32_t *capacity, uint32_t count, size_t item_bytes)
{
    if (count < *capacity)
        return 0;
    uint32_t wanted = *capacity ? *capacity * 2 : 8;
    void *grown = realloc(*(void **)items, wanted * item_bytes);
    if (!grown)
        return -1;
    *(void **)items = grown;
    *capacity = wanted;
    return 0;
}

/* Messages point into the outermost text; inside a nested definition its use is what we can show.
 */
static int fail_memory(struct compiler *c, uint32_t offset)
{
    return expr_fail(c->error, offset, "out of memory");
}

static int slots_allocate(struct compiler *c, uint32_t count, uint32_t offset, uint32_t *slot)
{
    struct expr_program *p = c->program;
    if (count > WORKSPACE_MAX - p->workspace_size)
        return expr_fail(c->error, offset, "the expression needs too many intermediate values");
    *slot = p->workspace_size;
    p->workspace_size += count;
    return 0;
}

static struct expr_step *step_add(struct compiler *c)
{
    struct expr_program *p = c->program;
    if (reserve(&p->steps, &p->step_capacity, p->step_count, sizeof *p->steps))
        return NULL;
    p->steps[p->step_count] = (struct expr_step){0};
    return &p->steps[p->step_count++];
}

/* The slot of a value; a constant gets one of its own. */
static int value_slot(struct compiler *c, const struct value *value, uint32_t offset,
                      uint32_t *slot)
{
    struct expr_program *p = c->program;
    if (!value->is_constant) {
        *slot = value->slot;
        return 0;
    }
    for (uint32_t i = 0; i < p->constant_count; i++) {
        if (memcmp(&p->constants[i].number, &value->number, sizeof value->number) == 0) {
            *slot = p->constants[i].slot;
            return 0;
        }
    }
    if (reserve(&p->constants, &p->constant_capacity, p->constant_count, sizeof *p->constants))
        return fail_memory(c, offset);
    if (slots_allocate(c, 1, offset, slot))
        return -1;
    p->constants[p->constant_count++] = (struct expr_constant){*slot, value->number};
    return 0;
}

static int compile_input(struct compiler *c, const struct expr_name *name,
                         enum expr_accumulate accumulate, uint32_t offset, struct value *result)
{
    struct expr_program *p = c->program;
    uint32_t i;
    for (i = 0; i < p->input_count; i++) {
        if (p->inputs[i].input == name->input && p->inputs[i].accumulate == accumulate)
            break;
    }
    if (i == p->input_count) {
        struct expr_input input = {
            .input = name->input, .accumulate = accumulate, .shape = name->shape};
        if (reserve(&p->inputs, &p->input_capacity, p->input_count, sizeof *p->inputs))
            return fail_memory(c, offset);
        if (slots_allocate(c, shape_count(&name->shape), offset, &input.slot))
            return -1;
        p->inputs[p->input_count++] = input;
    }
    *result = (struct value){.slot = p->inputs[i].slot, .shape = name->shape};
    return 0;
}

/* A derived counter inside another one: compiled once per program. */
static int compile_nested(struct compiler *c, const char *text, const struct expr_node *node,
                          struct value *result)
{
    int name_length = (int)(node->name_length < 60 ? node->name_length : 60);
    for (uint32_t i = 0; i < c->known_count; i++) {
        if (c->known[i].text == text) {
            *result = c->known[i].value;
            return 0;
        }
    }
    for (uint32_t i = 0; i < c->depth; i++) {
        if (c->stack[i] == text)
            return expr_fail(c->error, node->offset, "'%.*s' is defined by itself", name_length,
                             node->name);
    }
    if (c->depth == NESTING_MAX)
        return expr_fail(c->error, node->offset, "definitions nest deeper than %d", NESTING_MAX);
    if (compile_text(c, text, result)) {
        c->error->offset = node->offset;
        return -1;
    }
    if (reserve(&c->known, &c->known_capacity, c->known_count, sizeof *c->known))
        return fail_memory(c, node->offset);
    c->known[c->known_count++] = (struct known){text, *result};
    return 0;
}

static int compile_name(struct compiler *c, const struct expr_node *node, struct value *result)
{
    struct expr_name name = {0};
    int name_length = (int)(node->name_length < 60 ? node->name_length : 60);
    c->resolve(c->arg, node->name, node->name_length, &name);
    switch (name.kind) {
    case NAME_CONSTANT:
        *result = (struct value){.is_constant = 1, .number = name.value};
        return 0;
    case NAME_INPUT:
        return compile_input(c, &name, ACCUMULATE_NONE, node->offset, result);
    case NAME_EXPRESSION:
        return compile_nested(c, name.text, node, result);
    case NAME_UNKNOWN:
        break;
    }
    return expr_fail(c->error, node->offset, "unknown operand '%.*s'", name_length, node->name);
}

static double fold(enum expr_node_kind kind, double a, double b)
{
    switch (kind) {
    case NODE_ADD:
        return a + b;
    case NODE_SUBTRACT:
        return a - b;
    case NODE_MULTIPLY:
        return a * b;
    default:
        return b == 0 ? 0 : a / b;
    }
}

static int compile_binary(struct compiler *c, const struct expr_node *node, const struct value *a,
                          const struct value *b, struct value *result)
{
    static const enum expr_op ops[] = {
        [NODE_ADD] = OP_ADD,
        [NODE_SUBTRACT] = OP_SUBTRACT,
        [NODE_MULTIPLY] = OP_MULTIPLY,
        [NODE_DIVIDE] = OP_DIVIDE,
    };
    if (a->is_constant && b->is_constant) {
        *result =
            (struct value){.is_constant = 1, .number = fold(node->kind, a->number, b->number)};
        return 0;
    }
    uint32_t count_a = shape_count(&a->shape), count_b = shape_count(&b->shape);
    if (count_a != 1 && count_b != 1 && !shape_equal(&a->shape, &b->shape))
        return expr_fail(c->error, node->offset,
                         "the operands have different dimensions (%u and %u values): reduce one",
                         count_a, count_b);
    struct expr_step step = {.op = ops[node->kind],
                             .count = count_a > count_b ? count_a : count_b,
                             .a_stride = count_a > 1,
                             .b_stride = count_b > 1};
    if (value_slot(c, a, node->offset, &step.a) || value_slot(c, b, node->offset, &step.b) ||
        slots_allocate(c, step.count, node->offset, &step.to))
        return -1;
    struct expr_step *added = step_add(c);
    if (!added)
        return fail_memory(c, node->offset);
    *added = step;
    int take_b = count_b > count_a || a->is_constant;
    *result = (struct value){.slot = step.to, .shape = take_b ? b->shape : a->shape};
    return 0;
}

static int compile_negate(struct compiler *c, const struct expr_node *node, const struct value *a,
                          struct value *result)
{
    struct value zero = {.is_constant = 1};
    struct expr_node subtract = {.kind = NODE_SUBTRACT, .offset = node->offset};
    return compile_binary(c, &subtract, &zero, a, result);
}

/* Room for a table of indices in the program. */
static int indices_allocate(struct compiler *c, uint32_t count, uint32_t offset, uint32_t *first)
{
    struct expr_program *p = c->program;
    if (count > WORKSPACE_MAX - p->index_count)
        return expr_fail(c->error, offset, "the expression needs too many intermediate values");
    uint32_t *grown = realloc(p->indices, (p->index_count + count) * sizeof *grown);
    if (!grown)
        return fail_memory(c, offset);
    p->indices = grown;
    *first = p->index_count;
    p->index_count += count;
    return 0;
}

static void positions_of(const struct counter_shape *shape, uint32_t flat_index,
                         uint32_t position[DIMENSION_COUNT])
{
    uint64_t id = shape_instance_id(shape, 0, flat_index);
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++)
        position[d] = instance_position(id, d);
}

static int compile_reduce(struct compiler *c, const struct expr_node *node, const struct value *a,
                          struct value *result)
{
    static const enum expr_op ops[] = {[REDUCE_SUM] = OP_SUM,
                                       [REDUCE_AVERAGE] = OP_AVERAGE,
                                       [REDUCE_MINIMUM] = OP_MINIMUM,
                                       [REDUCE_MAXIMUM] = OP_MAXIMUM};
    if (a->is_constant) {
        *result = *a;
        return 0;
    }
    struct value reduced = {.shape = a->shape};
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++) {
        if (!node->dimensions || node->dimensions & 1u << d)
            reduced.shape.extent[d] = 0;
    }
    struct expr_step step = {
        .op = ops[node->reduce], .a = a->slot, .count = shape_count(&a->shape)};
    step.to_count = shape_count(&reduced.shape);
    if (indices_allocate(c, step.count, node->offset, &step.index) ||
        slots_allocate(c, step.to_count, node->offset, &step.to))
        return -1;
    for (uint32_t i = 0; i < step.count; i++) {
        uint32_t position[DIMENSION_COUNT];
        positions_of(&a->shape, i, position);
        c->program->indices[step.index + i] = shape_flat_index(&reduced.shape, position);
    }
    struct expr_step *added = step_add(c);
    if (!added)
        return fail_memory(c, node->offset);
    *added = step;
    reduced.slot = step.to;
    *result = reduced;
    return 0;
}

/* The dimensions that stay; -1 when a selected position does not exist. */
static int selected_shape(struct compiler *c, const struct expr_node *node,
                          const struct counter_shape *from, struct counter_shape *to)
{
    *to = *from;
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++) {
        uint32_t extent = from->extent[d] ? from->extent[d] : 1;
        if (!node->selected[d])
            continue;
        if (extent < DIMENSION_EXTENT_MAX && node->selected[d] >> extent)
            return expr_fail(c->error, node->offset, "%s has %u positions only", dimension_name(d),
                             extent);
        uint32_t count = (uint32_t)__builtin_popcountll(node->selected[d]);
        to->extent[d] = count == 1 ? 0 : (uint8_t)count;
    }
    return 0;
}

static int compile_select(struct compiler *c, const struct expr_node *node, const struct value *a,
                          struct value *result)
{
    if (a->is_constant)
        return expr_fail(c->error, node->offset, "select needs a counter");
    struct value selected = {0};
    if (selected_shape(c, node, &a->shape, &selected.shape))
        return -1;
    struct expr_step step = {.op = OP_SELECT, .a = a->slot, .count = shape_count(&selected.shape)};
    if (indices_allocate(c, step.count, node->offset, &step.index) ||
        slots_allocate(c, step.count, node->offset, &step.to))
        return -1;
    uint32_t taken = 0;
    for (uint32_t i = 0, n = shape_count(&a->shape); i < n; i++) {
        uint32_t position[DIMENSION_COUNT];
        int wanted = 1;
        positions_of(&a->shape, i, position);
        for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++)
            wanted &= !node->selected[d] || (node->selected[d] >> position[d] & 1);
        if (wanted)
            c->program->indices[step.index + taken++] = i;
    }
    struct expr_step *added = step_add(c);
    if (!added)
        return fail_memory(c, node->offset);
    *added = step;
    selected.slot = step.to;
    *result = selected;
    return 0;
}

/* Instances are numbered die by die, as tools know them. Their other dimensions stay. */
static int instance_select(struct compiler *c, const struct expr_node *node, const struct value *a,
                           struct value *result)
{
    const uint8_t *extent = a->shape.extent;
    uint32_t instances = extent[DIMENSION_INSTANCE] ? extent[DIMENSION_INSTANCE] : 1;
    uint32_t dies = extent[DIMENSION_XCC] ? extent[DIMENSION_XCC] : 1;
    struct expr_node select = {.kind = NODE_SELECT, .offset = node->offset};
    if (a->is_constant || node->instance >= instances * dies)
        return expr_fail(c->error, node->offset, "'%.*s' has %u instances only",
                         (int)(node->name_length < 60 ? node->name_length : 60), node->name,
                         a->is_constant ? 0 : instances * dies);
    select.selected[DIMENSION_INSTANCE] = UINT64_C(1) << node->instance % instances;
    if (extent[DIMENSION_XCC])
        select.selected[DIMENSION_XCC] = UINT64_C(1) << node->instance / instances;
    return compile_select(c, &select, a, result);
}

/* One instance of what is accumulated, or a counter that was given such a name. */
static int compile_accumulate(struct compiler *c, const struct expr_node *node,
                              struct value *result)
{
    struct expr_name name = {0};
    struct value all;
    int name_length = (int)(node->name_length < 60 ? node->name_length : 60);
    int takes_instance = node->whole_length != 0;
    c->resolve(c->arg, node->name, node->name_length, &name);
    if (name.kind == NAME_UNKNOWN && takes_instance) {
        takes_instance = 0;
        name_length = (int)(node->whole_length < 60 ? node->whole_length : 60);
        c->resolve(c->arg, node->name, node->whole_length, &name);
    }
    if (name.kind == NAME_UNKNOWN)
        return expr_fail(c->error, node->offset, "unknown operand '%.*s'", name_length, node->name);
    if (name.kind != NAME_INPUT)
        return expr_fail(c->error, node->offset, "'%.*s' is not a basic counter", name_length,
                         node->name);
    if (node->accumulate != ACCUMULATE_NONE && !name.may_accumulate)
        return expr_fail(c->error, node->offset,
                         "'%.*s' cannot be accumulated: only counters of the SQ block can",
                         name_length, node->name);
    if (!takes_instance)
        return compile_input(c, &name, node->accumulate, node->offset, result);
    return compile_input(c, &name, node->accumulate, node->offset, &all) ||
                   instance_select(c, node, &all, result)
               ? -1
               : 0;
}

/* One instance of a counter, or a counter that was given such a name. */
static int compile_instance(struct compiler *c, const struct expr_node *node, struct value *result)
{
    struct expr_name name = {0};
    struct expr_node plain = *node;
    struct value all;
    c->resolve(c->arg, node->name, node->name_length, &name);
    if (name.kind == NAME_UNKNOWN) {
        plain.name_length = node->whole_length;
        return compile_name(c, &plain, result);
    }
    return compile_name(c, &plain, &all) || instance_select(c, node, &all, result) ? -1 : 0;
}

static int compile_node(struct compiler *c, const struct expr_node *node, struct value *values,
                        struct value *result)
{
    const struct value *left = &values[node->left];
    switch (node->kind) {
    case NODE_NUMBER:
        *result = (struct value){.is_constant = 1, .number = node->number};
        return 0;
    case NODE_NAME:
        return compile_name(c, node, result);
    case NODE_INSTANCE:
        return compile_instance(c, node, result);
    case NODE_NEGATE:
        return compile_negate(c, node, left, result);
    case NODE_ADD:
    case NODE_SUBTRACT:
    case NODE_MULTIPLY:
    case NODE_DIVIDE:
        return compile_binary(c, node, left, &values[node->right], result);
    case NODE_REDUCE:
        return compile_reduce(c, node, left, result);
    case NODE_SELECT:
        return compile_select(c, node, left, result);
    case NODE_ACCUMULATE:
        return compile_accumulate(c, node, result);
    }
    return -1;
}

/* Children stand before their parents, so one pass without recursion compiles the tree. */
static int compile_tree(struct compiler *c, const struct expr_tree *tree, struct value *result)
{
    struct value *values = calloc(tree->count, sizeof *values);
    int status = values ? 0 : fail_memory(c, 0);
    for (uint32_t i = 0; i < tree->count && status == 0; i++)
        status = compile_node(c, &tree->nodes[i], values, &values[i]);
    if (status == 0)
        *result = values[tree->root];
    free(values);
    return status;
}

static int compile_text(struct compiler *c, const char *text, struct value *result)
{
    struct expr_tree tree = {0};
    c->stack[c->depth++] = text;
    int status = expr_parse(text, &tree, c->error);
    if (status == 0)
        status = compile_tree(c, &tree, result);
    expr_tree_free(&tree);
    c->depth--;
    return status;
}

struct expr_program *expr_compile(const char *text, expr_resolve_fn *resolve, void *arg,
                                  struct expr_error *error)
{
    struct value result;
    struct compiler c = {.resolve = resolve, .arg = arg, .error = error};
    *error = (struct expr_error){0};
    c.program = calloc(1, sizeof *c.program);
    if (!c.program) {
        expr_fail(error, 0, "out of memory");
        return NULL;
    }
    int status = compile_text(&c, text, &result);
    if (status == 0)
        status = value_slot(&c, &result, 0, &c.program->result);
    free(c.known);
    if (status) {
        expr_destroy(c.program);
        return NULL;
    }
    c.program->shape = result.shape;
    return c.program;
}
