package org.openjobspec;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Finds and loads the native half: the file that {@code -Dorg.openjobspec.library} or {@code OJS_LIBRARY} names, else the one in the
 * jar for this platform, which is copied to a temporary file for the time of the load.
 */
final class NativeLibrary {
    static final String PROPERTY = "org.openjobspec.library";

    private NativeLibrary() {}

    static SymbolLookup load() {
        String named = System.getProperty(PROPERTY, System.getenv("OJS_LIBRARY"));
        if (named != null && !named.isEmpty()) return open(Path.of(named));
        String resource = resource();
        try (InputStream in = NativeLibrary.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new UnsatisfiedLinkError("no " + resource + " on the class path: add the dependency "
                        + "org.openjobspec:ojs with <classifier>" + platform() + "</classifier> (ojs-<version>-"
                        + platform() + ".jar), or name the library with -D" + PROPERTY + "=/path/to/" + file());
            }
            return unpacked(in);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot unpack " + resource, e);
        }
    }

    private static SymbolLookup unpacked(InputStream in) throws IOException {
        // Readable by its owner only, in a directory that no other user can write to, or put another file into.
        Path directory = Files.createTempDirectory("ojs");
        Path copy = directory.resolve(file());
        try {
            Files.copy(in, copy);
            return open(copy);
        } finally {
            // Windows keeps a loaded file; everybody else is done with its name.
            if (!copy.toFile().delete()) copy.toFile().deleteOnExit();
            if (!directory.toFile().delete()) directory.toFile().deleteOnExit();
        }
    }

    private static SymbolLookup open(Path file) {
        if (!Files.isRegularFile(file)) throw new UnsatisfiedLinkError("there is no file " + file.toAbsolutePath());
        return SymbolLookup.libraryLookup(file, Arena.global());
    }

    /** Where the library is in a jar. */
    static String resource() {
        return "/org/openjobspec/native/" + platform() + "/" + file();
    }

    static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch");
        String system = os.contains("mac") ? "macos" : os.contains("windows") ? "windows" : "linux";
        return system + "-" + (machine.equals("amd64") ? "x86_64" : machine);
    }

    private static String file() {
        return switch (platform().split("-")[0]) {
            case "macos" -> "libojs.dylib";
            case "windows" -> "ojs.dll";
            default -> "libojs.so";
        };
    }
}
