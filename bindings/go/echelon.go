// Package echelon - sorting and data-parallel operations on NVIDIA GPUs and on the CPU, by libechelon.
//
// A Context is an open device. Functions take slices, which a GPU context copies to the GPU and back,
// and return when they have finished. Every function returns an *Error if an argument is wrong, for
// example if slices have different lengths. The headers in include/echelon describe the order of
// floats, the bit-identical results and all other guarantees.
//
// SPDX-License-Identifier: Apache-2.0
package echelon

// #cgo pkg-config: echelon
// #include <echelon.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// Status is the kind of a failure.
type Status int

// The kinds of failures, as in echelon.h.
const (
	ErrArg         Status = C.ECH_ERR_ARG         // an argument violates its documented contract
	ErrUnsupported Status = C.ECH_ERR_UNSUPPORTED // not supported by this device or this build
	ErrMemory      Status = C.ECH_ERR_MEMORY      // out of memory
	ErrNoDevice    Status = C.ECH_ERR_NO_DEVICE   // the device does not exist or cannot be used
	ErrDevice      Status = C.ECH_ERR_DEVICE      // an error of the GPU driver; close the context
	ErrCanceled    Status = C.ECH_ERR_CANCELED    // a progress function ended the call
	ErrComm        Status = C.ECH_ERR_COMM        // another rank failed or did not answer
)

// Error is a failed call, with the message of the library.
type Error struct {
	Status  Status
	Message string
}

func (e *Error) Error() string { return e.Message }

// sameLength fails if slices that must have the same length have different lengths.
func sameLength(a string, n int, b string, m int) error {
	if n == m {
		return nil
	}
	message := fmt.Sprintf("%s has %d elements, but %s has %d: they must be equally long", a, n, b, m)
	return &Error{ErrArg, message}
}

// Context is an open device. Goroutines may share it: their calls run one after the other.
type Context struct {
	mutex sync.Mutex
	raw   *C.ech_ctx
}

// Open opens a device: "cpu", "cuda", "cuda:1", "auto", or "simt", the emulator. "" is the device that
// the environment variable ECHELON_DEVICE names, otherwise the first GPU, otherwise the CPU. The caller
// closes the context.
func Open(device string) (*Context, error) {
	if strings.Contains(device, "\x00") {
		return nil, &Error{ErrArg, fmt.Sprintf("device is %q, which contains a zero", device)}
	}
	var name *C.char
	if device != "" {
		name = C.CString(device)
		defer C.free(unsafe.Pointer(name))
	}
	runtime.LockOSThread() // the message of a failure belongs to the thread
	defer runtime.UnlockOSThread()
	c := &Context{}
	if status := C.ech_open(&c.raw, name); status != C.ECH_OK {
		return nil, &Error{Status(status), C.GoString(C.ech_error(nil))}
	}
	runtime.SetFinalizer(c, (*Context).Close)
	return c, nil
}

// Close waits for the device and closes it. A second Close does nothing.
func (c *Context) Close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	C.ech_close(c.raw)
	c.raw = nil
}

// Device returns the name with which Open opens the same device again, or "" after Close.
func (c *Context) Device() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.raw == nil {
		return ""
	}
	return C.GoString(C.ech_device_name(c.raw))
}

// SetThreads limits the number of CPU threads of a call. 0 is the default: all processors.
func (c *Context) SetThreads(threads int) error {
	if int(C.int(threads)) != threads {
		return &Error{ErrArg, fmt.Sprintf("threads is %d, which is out of range", threads)}
	}
	return c.call(func(raw *C.ech_ctx) C.ech_status { return C.ech_set_threads(raw, C.int(threads)) })
}

// Version returns the version of the library that is running, such as "0.2.0".
func Version() string { return C.GoString(C.ech_version()) }

// call makes one call on the context and turns its status into an error.
func (c *Context) call(f func(*C.ech_ctx) C.ech_status) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.raw == nil {
		return &Error{ErrArg, "the context is closed"}
	}
	if status := f(c.raw); status != C.ECH_OK {
		return &Error{Status(status), C.GoString(C.ech_error(c.raw))}
	}
	return nil
}

// Element is an element of an array.
type Element interface {
	int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint | float32 | float64
}

// Index is an index or a position.
type Index interface {
	int32 | int64 | int | uint32 | uint64 | uint
}

func dtypeOf[T Element]() C.ech_dtype {
	var zero T
	switch any(zero).(type) {
	case int8:
		return C.ECH_I8
	case int16:
		return C.ECH_I16
	case int32:
		return C.ECH_I32
	case int64, int: // Echelon needs a 64-bit platform
		return C.ECH_I64
	case uint8:
		return C.ECH_U8
	case uint16:
		return C.ECH_U16
	case uint32:
		return C.ECH_U32
	case uint64, uint:
		return C.ECH_U64
	case float32:
		return C.ECH_F32
	}
	return C.ECH_F64
}

// address returns the address of the first element, or nil.
func address[T any](s []T) unsafe.Pointer {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Pointer(&s[0])
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// hasPointers reports whether values of a type contain pointers, which C must not move.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128
}
