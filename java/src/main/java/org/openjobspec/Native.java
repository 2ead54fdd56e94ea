package org.openjobspec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * The functions of {@code include/ojs.h}, and how values cross. A test compares the layouts with the header.
 *
 * <p>Objects of the library are segments with an automatic arena: they are freed when nothing refers to them any more, so no thread
 * can use one that is gone. Buffers and errors are copied and freed at once.
 */
final class Native {
    /** What this package was written against: {@code OJS_ABI} of the header. */
    static final int ABI = 1 << 16;

    static final StructLayout SLICE = MemoryLayout.structLayout(ADDRESS.withName("ptr"), JAVA_LONG.withName("len"));

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LIBRARY = NativeLibrary.load();
    private static final AddressLayout POINTER = ADDRESS;
    private static final VarHandle SLICE_PTR = SLICE.varHandle(MemoryLayout.PathElement.groupElement("ptr"));
    private static final VarHandle SLICE_LEN = SLICE.varHandle(MemoryLayout.PathElement.groupElement("len"));

    private static final MethodHandle ERROR_CLASS = quick("ojs_error_class", JAVA_INT, POINTER);
    private static final MethodHandle ERROR_JSON = quick("ojs_error_json", SLICE, POINTER);
    private static final MethodHandle ERROR_FREE = quick("ojs_error_free", null, POINTER);
    private static final MethodHandle ERROR_OF = function("ojs_error_of", POINTER, JAVA_SHORT, SLICE);
    private static final MethodHandle BUF_SLICE = quick("ojs_buf_slice", SLICE, POINTER);
    private static final MethodHandle BUF_FREE = quick("ojs_buf_free", null, POINTER);

    static {
        MethodHandle check = function("ojs_abi_check", POINTER, JAVA_INT);
        raise(() -> (MemorySegment) check.invokeExact(ABI));
    }

    private Native() {}

    /** A function that may wait, or call back. */
    static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return link(name, result, arguments);
    }

    /** A function that returns at once and calls nothing: no change of the thread's state around it. */
    static MethodHandle quick(String name, MemoryLayout result, MemoryLayout... arguments) {
        return link(name, result, arguments, Linker.Option.critical(false));
    }

    private static MethodHandle link(String name, MemoryLayout result, MemoryLayout[] arguments, Linker.Option... options) {
        MemorySegment address = LIBRARY.find(name).orElseThrow(() -> new UnsatisfiedLinkError("the library has no " + name
                + ": it is older than this package"));
        FunctionDescriptor descriptor = result == null ? FunctionDescriptor.ofVoid(arguments) : FunctionDescriptor.of(result, arguments);
        return LINKER.downcallHandle(address, descriptor, options);
    }

    /** A function of Java for the library to call. It lives as long as the process. */
    static MemorySegment callback(MethodHandle target, FunctionDescriptor descriptor) {
        return LINKER.upcallStub(target, descriptor, Arena.global());
    }

    // --- calls ---

    /** A call of the library that gives something. */
    interface Call<T> {
        T make() throws Throwable;
    }

    /** Makes a call that cannot fail. */
    static <T> T plain(Call<T> call) {
        try {
            return call.make();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a function of the library threw", e);
        }
    }

    /** Makes a call that gives an error, or NULL. */
    static void raise(Call<MemorySegment> call) {
        MemorySegment error = plain(call);
        if (!error.equals(MemorySegment.NULL)) throw taken(error);
    }

    /** An object of the library, freed when it is unreachable. */
    static MemorySegment owned(MemorySegment pointer, MethodHandle free) {
        return pointer.reinterpret(Arena.ofAuto(), object -> plain(() -> {
            free.invokeExact(object);
            return null;
        }));
    }

    /** A structure of options with the defaults of the library. */
    static MemorySegment options(Arena memory, StructLayout layout, MethodHandle init) {
        MemorySegment options = memory.allocate(layout);
        return plain(() -> {
            init.invokeExact(options);
            return options;
        });
    }

    /** What the library takes for the size of a structure of options. */
    static int optionsSize(StructLayout layout, MethodHandle init) {
        try (Arena memory = Arena.ofConfined()) {
            return (int) member(layout, "size").get(options(memory, layout, init), 0L);
        }
    }

    static VarHandle member(StructLayout layout, String name) {
        return layout.varHandle(MemoryLayout.PathElement.groupElement(name));
    }

    // --- values ---

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A slice of its own. */
    static MemorySegment slice(SegmentAllocator memory, byte[] bytes) {
        MemorySegment slice = memory.allocate(SLICE);
        put(memory, slice, bytes);
        return slice;
    }

    static MemorySegment slice(SegmentAllocator memory, String text) {
        return slice(memory, text == null ? new byte[0] : utf8(text));
    }

    /** Slices in a row; NULL of none. */
    static MemorySegment slices(SegmentAllocator memory, List<String> texts) {
        if (texts.isEmpty()) return MemorySegment.NULL;
        MemorySegment row = memory.allocate(SLICE, texts.size());
        for (int i = 0; i < texts.size(); i++) {
            put(memory, row.asSlice(i * SLICE.byteSize(), SLICE.byteSize()), utf8(texts.get(i)));
        }
        return row;
    }

    private static void put(SegmentAllocator memory, MemorySegment slice, byte[] bytes) {
        if (bytes.length > 0) SLICE_PTR.set(slice, 0L, memory.allocateFrom(JAVA_BYTE, bytes));
        SLICE_LEN.set(slice, 0L, (long) bytes.length);
    }

    /** Fills the member of a structure. */
    static void set(MemorySegment structure, StructLayout layout, String member, SegmentAllocator memory, String text) {
        if (text == null) return;
        MemoryLayout.PathElement path = MemoryLayout.PathElement.groupElement(member);
        put(memory, structure.asSlice(layout.byteOffset(path), SLICE.byteSize()), utf8(text));
    }

    static byte[] bytes(MemorySegment slice) {
        long length = (long) SLICE_LEN.get(slice, 0L);
        if (length == 0) return new byte[0];
        return ((MemorySegment) SLICE_PTR.get(slice, 0L)).reinterpret(length).toArray(JAVA_BYTE);
    }

    static String text(MemorySegment slice) {
        return new String(bytes(slice), StandardCharsets.UTF_8);
    }

    /** The bytes of a buffer, which is freed. */
    static byte[] taken(Arena memory, MemorySegment buf) {
        if (buf.equals(MemorySegment.NULL)) return new byte[0];
        try {
            return plain(() -> bytes((MemorySegment) BUF_SLICE.invokeExact((SegmentAllocator) memory, buf)));
        } finally {
            plain(() -> {
                BUF_FREE.invokeExact(buf);
                return null;
            });
        }
    }

    /** The exception for an answer that is not 2xx; with a status of 0, for the error of one item of an answer about many. */
    static OJSException refusal(int status, byte[] body) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment text = slice(memory, body);
            return taken(plain(() -> (MemorySegment) ERROR_OF.invokeExact((short) status, text)));
        }
    }

    /** The exception for an error, which is freed. */
    static OJSException taken(MemorySegment error) {
        try (Arena memory = Arena.ofConfined()) {
            int number = plain(() -> (int) ERROR_CLASS.invokeExact(error));
            byte[] text = plain(() -> bytes((MemorySegment) ERROR_JSON.invokeExact((SegmentAllocator) memory, error)));
            Map<String, Object> about = Members.of(Json.parse(text));
            return OJSException.of(number, Members.text(about, "message"), OJSException.About.of(about));
        } finally {
            plain(() -> {
                ERROR_FREE.invokeExact(error);
                return null;
            });
        }
    }
}
