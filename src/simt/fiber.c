/*
 * simt/fiber.c - the context switch: saves the registers that the calling convention preserves.
 *
 * Signals and the signal mask are not switched, which makes this about twenty times faster than
 * swapcontext(). x86-64 and aarch64 need a few lines of assembly each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "simt/fiber.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER
#endif
#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* simt_switch(save, to): pushes the callee-saved registers, stores the stack pointer in *save, sets
 * it to `to` and pops the registers. The stack of a new fiber is prepared as if simt_switch() had
 * left it. */
void simt_switch(void **save, void *to) __attribute__((visibility("hidden")));
void simt_start(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
enum { SAVED_WORDS = 7, RUN_WORD = 5 /* rbx */, RETURN_WORD = 6 };
__asm__(".text\n"
        ".globl simt_switch\n"
        ".hidden simt_switch\n"
        ".type simt_switch, @function\n"
        "simt_switch:\n"
        "  pushq %rbx\n"
        "  pushq %rbp\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbp\n"
        "  popq %rbx\n"
        "  ret\n"
        ".size simt_switch, . - simt_switch\n"
        ".globl simt_start\n"
        ".hidden simt_start\n"
        ".type simt_start, @function\n"
        "simt_start:\n" /* the stack is aligned here as before a call */
        "  xorl %ebp, %ebp\n"
        "  call *%rbx\n"
        "  ud2\n"
        ".size simt_start, . - simt_start\n");
#elif defined(__aarch64__)
enum { SAVED_WORDS = 20, RUN_WORD = 0 /* x19 */, RETURN_WORD = 11 /* x30 */ };
__asm__(".text\n"
        ".globl simt_switch\n"
        ".hidden simt_switch\n"
        ".type simt_switch, %function\n"
        "simt_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n"
        "  stp x21, x22, [sp, #16]\n"
        "  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n"
        "  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n"
        "  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x2, sp\n"
        "  str x2, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n"
        "  ldp x21, x22, [sp, #16]\n"
        "  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n"
        "  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n"
        "  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size simt_switch, . - simt_switch\n"
        ".globl simt_start\n"
        ".hidden simt_start\n"
        ".type simt_start, %function\n"
        "simt_start:\n"
        "  mov x29, xzr\n"
        "  blr x19\n"
        "  brk #1\n"
        ".size simt_start, . - simt_start\n");
#else
#error "fiber.c has no context switch for this processor"
#endif

/* A word at the end of the stack, which is overwritten only if the stack overflows. */
static const uint64_t canary = 0x5eed0f57acc0ffee;

void simt_fiber_begin(struct simt_fiber *fiber, void (*run)(void))
{
    union {
        void (*function)(void);
        uintptr_t word;
    } entry = { run }, start = { simt_start };
    uintptr_t words[SAVED_WORDS] = { 0 };
    words[RUN_WORD] = entry.word;
    words[RETURN_WORD] = start.word;
#ifdef ADDRESS_SANITIZER
    __asan_unpoison_memory_region(fiber->stack, fiber->bytes); /* of an earlier fiber */
#endif
    memcpy(fiber->stack, &canary, sizeof canary);
    /* The stack pointer at simt_start() is aligned to 16 bytes. */
    char *top = (char *)((uintptr_t)(fiber->stack + fiber->bytes) & ~(uintptr_t)15);
    top -= 16 + sizeof words;
    if ((uintptr_t)(top + sizeof words) % 16) top -= 8;
    memcpy(top, words, sizeof words);
    fiber->top = top;
    fiber->fake_stack = NULL;
}

void simt_fiber_switch(struct simt_fiber *from, struct simt_fiber *to, bool ends)
{
#ifdef ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(ends ? NULL : &from->fake_stack, to->stack, to->bytes);
#else
    (void)ends;
#endif
    simt_switch(&from->top, to->top);
#ifdef ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

void simt_fiber_entered(void)
{
#ifdef ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

void simt_fiber_here(struct simt_fiber *fiber)
{
    memset(fiber, 0, sizeof *fiber);
#ifdef ADDRESS_SANITIZER /* only it needs the bounds of the stack */
    pthread_attr_t attributes;
    void *stack = NULL;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &fiber->bytes);
        pthread_attr_destroy(&attributes);
        fiber->stack = stack;
    }
#endif
}

bool simt_fiber_sound(const struct simt_fiber *fiber)
{
    return memcmp(fiber->stack, &canary, sizeof canary) == 0;
}
