/*
 * kernel_text.c - finds kernels in preprocessed CUDA C by their tokens; a parser of C++ is not
 * needed for that.
 *
 *     __global__ void __launch_bounds__(256) NAME ( PARAMETER , PARAMETER ) {
 *     extern __shared__ TYPE NAME [
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "kernel_tokens.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Texts of tokens ---- */

/* Appends a token, separated by a blank where C needs or usually has one. */
static void append(char *text, size_t room, const struct token *token)
{
    const size_t used = strlen(text);
    const char last = used ? text[used - 1] : 0, first = *token->at;
    bool blank = used && (token_is_word(last) || strchr(",*&>)]", last)) && token_is_word(first);
    blank |= used && token_is_word(last) && strchr("*&", first);
    if (last == '*' && token_is_word(first)) blank = token_is(token, "const");
    blank |= last == ',' || (used && first == '=') || last == '=';
    if (used + blank + token->length + 1 > room) return;
    snprintf(text + used, room - used, "%s%.*s", blank ? " " : "", (int)token->length, token->at);
}

/* Reads the tokens in parentheses, of which the first has been read; appends them to text. */
static void read_parentheses(struct reader *r, char *text, size_t room)
{
    int depth = 1;
    for (token_advance(r); r->token.kind != END; token_advance(r)) {
        depth += token_is(&r->token, "(");
        depth -= token_is(&r->token, ")");
        if (depth == 0) return;
        if (text) append(text, room, &r->token);
    }
}

/* ---- Unsupported code ---- */

static void note(struct reader *r, char *where, size_t room, const char *what)
{
    if (!*where) snprintf(where, room, "%.380s:%d: %s", r->path, r->line, what);
}

/* asm ( "text": an empty text is only a barrier for the compiler. */
static void check_asm(struct reader *r)
{
    do token_advance(r);
    while (token_is(&r->token, "volatile") || token_is(&r->token, "__volatile__") ||
           token_is(&r->token, "("));
    if (r->token.kind == STRING && r->token.length > 2)
        note(r, r->text->problem, sizeof r->text->problem,
             "inline PTX is not supported: put C for the emulator under #ifdef ECHELON_EMULATE");
}

static const struct {
    const char *prefix, *why;
} foreign[] = {
    { "cudaTextureObject_t", "textures are not supported" },
    { "tex1D", "textures are not supported" },
    { "tex2D", "textures are not supported" },
    { "tex3D", "textures are not supported" },
    { "surf", "surfaces are not supported" },
    { "cooperative_groups", "cooperative groups are not supported; use __syncthreads(), "
                            "__syncwarp() and the functions with masks" },
    { "nvcuda", "the WMMA functions are not supported" },
    { "__half", "the functions of cuda_fp16.h are not supported" },
    { "half2", "the functions of cuda_fp16.h are not supported" },
    { "__nv_", "libdevice and the types of cuda_fp16.h and cuda_bf16.h are not supported" },
    { "curand", "cuRAND is not supported" },
    { "cuda", "the CUDA runtime is not available: put host code under #ifndef ECHELON_EMULATE" },
};

static void check_foreign(struct reader *r)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const size_t length = strlen(foreign[i].prefix);
        if (r->token.length < length || memcmp(r->token.at, foreign[i].prefix, length) != 0)
            continue;
        if (strcmp(foreign[i].prefix, "cuda") == 0 &&
            (r->token.length == length || !isupper((unsigned char)r->token.at[length])))
            continue;
        note(r, r->text->hint, sizeof r->text->hint, foreign[i].why);
        return;
    }
}

/* ---- Declarations ---- */

static bool is_attribute(const struct token *t)
{
    return token_is(t, "__launch_bounds__") || token_is(t, "__attribute__") ||
           token_is(t, "__cluster_dims__") || token_is(t, "__maxnreg__") ||
           token_is(t, "alignas") || token_is(t, "__declspec");
}

/* Words that end a parameter without a name. */
static bool is_type_word(const char *word)
{
    static const char *const words[] = { "int",    "unsigned",     "char", "short",
                                         "long",   "void",         "bool", "float",
                                         "double", "__restrict__", "const" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) return true;
    return false;
}

/* The name with the namespaces that are open: "space::name". */
static void qualify(const struct reader *r, const struct token *word, char name[KERNEL_NAME])
{
    size_t used = 0;
    for (int i = 0; i < r->depth && used < KERNEL_NAME; i++)
        if (*r->spaces[i])
            used += (size_t)snprintf(name + used, KERNEL_NAME - used, "%s::", r->spaces[i]);
    if (used < KERNEL_NAME)
        snprintf(name + used, KERNEL_NAME - used, "%.*s", (int)word->length, word->at);
}

/* Reads ( PARAMETER , PARAMETER ), of which the first parenthesis has been read. */
static void read_parameters(struct reader *r, struct kernel *k)
{
    char word[KERNEL_NAME] = "", before[KERNEL_NAME] = "";
    int depth = 1, angles = 0, words = 0;
    bool named = true; /* no initialiser or dimension has begun */
    bool plain = true; /* neither a pointer nor a reference */
    append(k->signature, sizeof k->signature, &r->token);
    for (token_advance(r); r->token.kind != END; token_advance(r)) {
        const struct token *t = &r->token;
        if (t->kind == WORD) check_foreign(r);
        depth += token_is(t, "(") || token_is(t, "<") || token_is(t, "{");
        depth -= token_is(t, ")") || token_is(t, ">") || token_is(t, "}");
        angles += token_is(t, "<");
        angles -= token_is(t, ">") && angles > 0;
        append(k->signature, sizeof k->signature, t);
        const bool ends = depth == 0 || (depth == 1 && token_is(t, ","));
        if (ends && words && k->parameter_count < KERNEL_PARAMETERS) {
            const bool has_name = words > 1 && !is_type_word(word);
            const int i = k->parameter_count++;
            snprintf(k->parameters[i], KERNEL_NAME, "%s", has_name ? word : "");
            snprintf(k->types[i], KERNEL_NAME, "%s", !plain ? "" : has_name ? before : word);
        }
        if (depth == 0) return;
        if (ends) {
            words = 0;
            angles = 0;
            named = plain = true;
            *word = *before = 0;
            continue;
        }
        if (token_is(t, "=") || token_is(t, "[")) named = false;
        if (token_is(t, "*") || token_is(t, "&") || token_is(t, "[")) plain = false;
        if (!named || angles > 0) continue;
        words += t->kind == WORD || token_is(t, ">") || token_is(t, "*");
        if (t->kind == WORD) {
            snprintf(before, sizeof before, "%s", word);
            snprintf(word, sizeof word, "%.*s", (int)t->length, t->at);
        }
        if (token_is(t, "*")) *word = 0;
    }
}

static void add_kernel(struct reader *r, const struct kernel *k)
{
    struct kernel_text *t = r->text;
    for (int i = 0; i < t->kernel_count; i++) {
        struct kernel *other = &t->kernels[i];
        if (strcmp(other->name, k->name) != 0) continue;
        if (!k->defined && other->defined) return;
        if (other->defined) {
            other->definitions++;
            return;
        }
        *other = *k;
        return;
    }
    if (t->kernel_count < KERNEL_TEXT_KERNELS) t->kernels[t->kernel_count++] = *k;
}

/* The void function void(...) may be written as any of the forms in the head comment. */
static void read_kernel(struct reader *r)
{
    struct kernel k = { .templated = r->in_template };
    struct token name = { END, NULL, 0 };
    for (token_advance(r); r->token.kind != END && !token_is(&r->token, "("); token_advance(r)) {
        if (token_is(&r->token, ";") || token_is(&r->token, "{") || token_is(&r->token, "<"))
            return;
        if (is_attribute(&r->token)) {
            const bool bounds = token_is(&r->token, "__launch_bounds__");
            token_advance(r);
            read_parentheses(r, bounds ? k.bound : NULL, sizeof k.bound);
        } else if (r->token.kind == WORD) {
            name = r->token;
        }
    }
    if (name.kind != WORD || r->token.kind == END) return;
    for (int i = 0; i < r->depth; i++)
        if (*r->spaces[i])
            snprintf(k.name + strlen(k.name), sizeof k.name - strlen(k.name),
                     "%.40s::", r->spaces[i]);
    snprintf(k.name + strlen(k.name), sizeof k.name - strlen(k.name), "%.*s", (int)name.length,
             name.at);
    snprintf(k.signature, sizeof k.signature, "%s", k.name);
    read_parameters(r, &k);
    if (k.parameter_count == 1 && strcmp(k.signature + strlen(k.name), "(void)") == 0)
        k.parameter_count = 0;
    token_advance(r);
    k.defined = token_is(&r->token, "{");
    k.definitions = k.defined;
    add_kernel(r, &k);
}

/* extern __shared__ TYPE NAME [: the name is the word before the bracket. */
static void read_extern(struct reader *r)
{
    struct kernel_text *t = r->text;
    struct token name = { END, NULL, 0 };
    bool shared = false;
    while (r->token.kind != END && !strchr(";{}([", *r->token.at)) {
        if (token_is(&r->token, "__shared__")) shared = true;
        if (token_is(&r->token, "__global__")) return; /* extern "C" __global__ */
        if (r->token.kind == WORD) name = r->token;
        token_advance(r);
        if (is_attribute(&r->token)) {
            token_advance(r);
            read_parentheses(r, NULL, 0);
            token_advance(r);
        }
    }
    char whole[KERNEL_NAME];
    if (!shared || name.kind != WORD || !token_is(&r->token, "[")) return;
    qualify(r, &name, whole);
    for (int i = 0; i < t->array_count; i++)
        if (strcmp(whole, t->arrays[i]) == 0) return;
    if (t->array_count < KERNEL_TEXT_ARRAYS)
        snprintf(t->arrays[t->array_count++], KERNEL_NAME, "%s", whole);
}

/* ---- The whole text ---- */

static void open_brace(struct reader *r)
{
    if (r->depth < MOST_DEPTH) snprintf(r->spaces[r->depth], KERNEL_NAME, "%s", r->next_space);
    r->depth += r->depth < MOST_DEPTH;
    *r->next_space = 0;
}

static void read_token(struct reader *r)
{
    const struct token *t = &r->token;
    if (token_is(t, "{")) open_brace(r);
    if (token_is(t, "}") && r->depth) r->depth--;
    if (token_is(t, ";") || token_is(t, "{") || token_is(t, "}")) r->in_template = false;
    if (token_is(t, ";")) *r->next_space = 0;
    if (token_is(&r->previous, "namespace") && t->kind == WORD)
        snprintf(r->next_space, sizeof r->next_space, "%.*s", (int)t->length, t->at);
    else if (token_is(&r->previous, "::") && t->kind == WORD && *r->next_space)
        snprintf(r->next_space + strlen(r->next_space),
                 sizeof r->next_space - strlen(r->next_space), "::%.*s", (int)t->length, t->at);
    if (r->system || (t->kind != WORD && !token_is(t, "<<<"))) return;
    if (token_is(t, "template")) r->in_template = true;
    if (token_is(t, "struct") || token_is(t, "class")) kernel_struct_read(r);
    if (token_is(t, "<<<"))
        note(r, r->text->problem, sizeof r->text->problem,
             "launches of kernels (<<<...>>>) are not supported: put host code under "
             "#ifndef ECHELON_EMULATE");
    else if (token_is(t, "asm") || token_is(t, "__asm__") || token_is(t, "__asm"))
        check_asm(r);
    else
        check_foreign(r);
}

bool kernel_text_read(struct kernel_text *text, const char *from, size_t bytes)
{
    memset(text, 0, sizeof *text);
    text->kernels = calloc(KERNEL_TEXT_KERNELS, sizeof *text->kernels);
    struct reader *r = calloc(1, sizeof *r);
    bool ok = text->kernels && r;
    if (ok && bytes) {
        r->text = text;
        r->at = from;
        r->end = from + bytes;
        while (r->at < r->end && *r->at != '\n') r->at++; /* the first line is a marker */
        if (r->at < r->end) r->at++;
        for (token_advance(r); r->token.kind != END;) {
            read_token(r);
            const bool ours = !r->system && r->token.kind == WORD;
            if (ours && token_is(&r->token, "__global__"))
                read_kernel(r);
            else if (ours && token_is(&r->token, "extern"))
                read_extern(r);
            else
                token_advance(r);
        }
        ok = !r->no_memory;
    }
    free(r);
    return ok;
}

void kernel_text_free(struct kernel_text *text)
{
    for (int i = 0; i < text->file_count; i++) free(text->files[i].path);
    free(text->files);
    free(text->structs);
    free(text->kernels);
    memset(text, 0, sizeof *text);
}

const struct kernel *kernel_text_find(const struct kernel_text *text, const char *name,
                                      int *matches)
{
    const size_t length = strcspn(name, "<");
    const struct kernel *found = NULL;
    *matches = 0;
    for (int i = 0; i < text->kernel_count; i++) {
        const struct kernel *k = &text->kernels[i];
        const size_t whole = strlen(k->name);
        if (!k->defined || whole < length) continue;
        const char *tail = k->name + whole - length;
        if (memcmp(tail, name, length) != 0) continue;
        if (tail != k->name && tail[-1] != ':') continue;
        found = k;
        ++*matches;
        if (tail == k->name) { /* the whole name */
            *matches = 1;
            return k;
        }
    }
    return *matches == 1 ? found : NULL;
}

const struct kernel_struct *kernel_text_struct(const struct kernel_text *text,
                                               const struct kernel *kernel, int i)
{
    const struct kernel_struct *found = NULL;
    for (int k = 0; k < text->struct_count && *kernel->types[i]; k++)
        if (strcmp(text->structs[k].name, kernel->types[i]) == 0) found = &text->structs[k];
    return found && !found->complex && found->member_count > 0 ? found : NULL;
}
