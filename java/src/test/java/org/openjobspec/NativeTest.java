package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.StructLayout;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What is written by hand here against what is in the headers. */
class NativeTest {
    private static String header(String name) throws IOException {
        return Files.readString(Support.ROOT.resolve("include").resolve(name));
    }

    /** Members of a structure in the header, `name: kind`. */
    private static List<String> members(String structure) throws IOException {
        Matcher whole = Pattern.compile("typedef struct \\{((?:(?!\n\\}).)*)\n\\} " + structure + ";", Pattern.DOTALL).matcher(header("ojs.h"));
        assertTrue(whole.find(), "the header has no " + structure);
        List<String> members = new ArrayList<>();
        Matcher member = Pattern.compile("^ +((?:const )?\\w+) (\\*?)(\\w+);", Pattern.MULTILINE).matcher(whole.group(1));
        while (member.find()) members.add(member.group(3) + ": " + (member.group(2).isEmpty() ? kind(member.group(1)) : "pointer"));
        return members;
    }

    private static String kind(String c) {
        return switch (c) {
            case "uint32_t", "ojs_cancel" -> "4";
            case "uint64_t", "size_t" -> "8";
            case "bool" -> "1";
            case "ojs_slice" -> "slice";
            default -> throw new AssertionError("a new kind of member: " + c);
        };
    }

    private static List<String> members(StructLayout layout) {
        List<String> members = new ArrayList<>();
        for (MemoryLayout member : layout.memberLayouts()) {
            switch (member) {
                case PaddingLayout _ -> {}
                case AddressLayout _ -> members.add(member.name().orElseThrow() + ": pointer");
                case StructLayout _ -> members.add(member.name().orElseThrow() + ": slice");
                default -> members.add(member.name().orElseThrow() + ": " + member.byteSize());
            }
        }
        return members;
    }

    @Test
    void structuresAreThoseOfTheHeader() throws IOException {
        assertEquals(members("ojs_slice"), members(Native.SLICE));
        assertEquals(members("ojs_client_options"), members(Functions.CLIENT_OPTIONS));
        assertEquals(members("ojs_worker_options"), members(Functions.WORKER_OPTIONS));
        assertEquals(members("ojs_relay_options"), members(Functions.RELAY_OPTIONS));
        assertEquals(members("ojs_request"), members(Functions.REQUEST));
        assertEquals(members("ojs_cancellation"), members(Functions.CANCELLATION));
    }

    @Test
    void theLibraryAgreesAboutSizes() {
        assertEquals(Functions.CLIENT_OPTIONS.byteSize(), NativeClient.optionsSize());
        assertEquals(Functions.WORKER_OPTIONS.byteSize(), NativeWorker.optionsSize());
        assertEquals(Functions.RELAY_OPTIONS.byteSize(), NativeRelay.optionsSize());
        assertEquals(Functions.SERVER_OPTIONS.byteSize(), NativeServer.optionsSize());
    }

    @Test
    void theInterfaceIsThatOfTheHeader() throws IOException {
        assertTrue(header("ojs.h").contains("#define OJS_ABI (1 << 16)") && Native.ABI == 1 << 16);
    }

    @Test
    void oneVersionForAll() throws IOException {
        String cargo = first("^version = \"(.*)\"$", "Cargo.toml");
        assertEquals(cargo, first("^  <version>(.*)</version>$", "java/pom.xml"));
        assertEquals(cargo, first("^  <version>(.*)</version>$", "java/adapters/pom.xml"));
        assertEquals(cargo, first("^    <version>(.*)</version>$", "java/adapters/ojs-adapter-jdbc/pom.xml"));
        assertEquals(cargo, first("^    <version>(.*)</version>$", "java/adapters/ojs-adapter-spring-boot-starter/pom.xml"));
        assertEquals(cargo, first("<ojs.version>(.*)</ojs.version>", "examples/java/pom.xml"));
        assertEquals(cargo, first("^      <version>(.*)</version>$", "java/README.md"));
    }

    private static String first(String pattern, String file) throws IOException {
        Matcher found = Pattern.compile(pattern, Pattern.MULTILINE).matcher(Files.readString(Support.ROOT.resolve(file)));
        assertTrue(found.find(), file);
        return found.group(1);
    }

    /** Name to number of the constants of an enumeration. */
    private static Map<String, Integer> constants(String prefix) throws IOException {
        Map<String, Integer> constants = new HashMap<>();
        Matcher constant = Pattern.compile("^ +" + prefix + "_(\\w+) = (\\d+),", Pattern.MULTILINE).matcher(header("ojs.h"));
        while (constant.find()) constants.put(constant.group(1), Integer.parseInt(constant.group(2)));
        assertFalse(constants.isEmpty());
        return constants;
    }

    @Test
    void everyClassOfErrorHasAnException() throws IOException {
        Map<String, String> others = Map.of("rate_limited", "RateLimited", "forked", "Internal");
        constants("OJS_CLASS").forEach((name, number) -> {
            if (number == 0) return;
            String words = name.toLowerCase(Locale.ROOT);
            StringBuilder camel = new StringBuilder();
            for (String word : words.split("_")) camel.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
            OJSException made = OJSException.of(number, "m", OJSException.About.code("c"));
            assertEquals(others.getOrDefault(words, camel.toString()), made.getClass().getSimpleName());
        });
    }

    @Test
    void reasonsAndPhasesAreThoseOfTheHeader() throws IOException {
        constants("OJS_CANCEL").forEach((name, number) -> assertEquals(name, number == 0 ? "NONE" : CancelReason.of(number).name()));
        Map<String, Integer> phases = new HashMap<>();
        for (OJSWorker.State state : OJSWorker.State.values()) {
            phases.put(state == OJSWorker.State.TERMINATE ? "DRAINING" : state.name(), state.ordinal());
        }
        assertEquals(constants("OJS_PHASE"), phases);
    }

    @Test
    void recordsOfTheEngineReachTheSystemLogger() {
        Logger logger = Logger.getLogger("org.openjobspec.core");
        List<LogRecord> records = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                records.add(record);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.setLevel(Level.ALL);
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
        try (OJSServer server = OJSServer.start(); OJSClient client = OJSClient.connect(server.url()); OJSWorker worker = OJSWorker.of(client)) {
            worker.register("a", ctx -> null).start();
            LogRecord first = Support.eventually(() -> records.isEmpty() ? null : records.getFirst());
            assertTrue(first.getMessage().contains(": "), first.getMessage());
        } finally {
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
            logger.setLevel(null);
            Logs.start();
        }
    }

    @Test
    void theLibraryIsFoundByPlatform() {
        assertTrue(NativeLibrary.resource().matches("/org/openjobspec/native/\\w+-\\w+/\\w+\\.\\w+"), NativeLibrary.resource());
    }
}
