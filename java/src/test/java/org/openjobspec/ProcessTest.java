package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.Support.PATIENCE;
import static org.openjobspec.Support.eventually;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What happens to jobs when processes end. */
@DisabledOnOs(OS.WINDOWS)
class ProcessTest {
    private final String queue = Support.unique("process");
    private final OJSClient client = OJSClient.connect(Support.server());
    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void end() {
        processes.forEach(Process::destroyForcibly);
        client.close();
    }

    /** A program, and the lines that it says. */
    private final class Program {
        final Process process;
        final List<String> lines = new CopyOnWriteArrayList<>();

        Program(String... args) throws IOException {
            process = start(args);
            processes.add(process);
            Thread.ofVirtual().start(() -> process.inputReader().lines().forEach(lines::add));
        }

        String line(String beginning) {
            return eventually(() -> lines.stream().filter(line -> line.startsWith(beginning)).findFirst().orElse(null));
        }

        void signal(String name) throws Exception {
            assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor());
        }

        int exit() throws Exception {
            assertTrue(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS), "it has not ended");
            return process.exitValue();
        }
    }

    static Process start(String... args) throws IOException {
        return start(List.of(), args);
    }

    static Process start(List<String> options, String... args) throws IOException {
        return command(options, args).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    static ProcessBuilder command(List<String> options, String... args) {
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "--enable-native-access=ALL-UNNAMED", "-Xmx64m",
                "-cp", classes));
        String library = System.getProperty(NativeLibrary.PROPERTY);
        if (library != null) command.add("-D" + NativeLibrary.PROPERTY + "=" + library);
        command.addAll(options);
        command.add(Programs.class.getName());
        command.addAll(Arrays.asList(args));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("OJS_URL", Support.server());
        return builder;
    }

    private String begun(Program program, Object... args) {
        String id = client.job("hold", args).queue(queue).enqueue().id();
        program.line("begun " + id);
        return id;
    }

    /** By what the process has sent, which a busy server may take in when that is gone: before the server takes the jobs of a silent worker. */
    private void comesBack(String id) {
        Support.within(Duration.ofSeconds(20), () -> client.getJob(id).state().equals("available"));
    }

    @Test
    void aClientKeepsNoProcessAlive() throws Exception {
        Program program = new Program("client", queue);
        String id = program.line("made ").substring(5);
        assertEquals(0, program.exit());
        assertEquals("available", client.getJob(id).state());
    }

    @Test
    void onTermRunningJobsFinishAndRunReturns() throws Exception {
        Program program = new Program("run", queue);
        program.line("now RUNNING");
        String id = begun(program, 300);
        program.signal("TERM");
        assertEquals(0, program.exit());
        program.line("over");
        assertEquals("held", client.getJob(id).result());
    }

    @Test
    void aSecondInterruptEndsTheGracePeriod() throws Exception {
        Program program = new Program("run", queue);
        program.line("now RUNNING");
        String id = begun(program);
        program.signal("INT");
        // Two that come before the process runs again are one to it: signals are not counted.
        program.line("now TERMINATE");
        program.signal("INT");
        assertEquals(0, program.exit());
        comesBack(id);
    }

    @Test
    void tstpMakesItQuietAndContResumes() throws Exception {
        Program program = new Program("run", queue);
        program.line("now RUNNING");
        client.job("say", "before").queue(queue).enqueue();
        program.line("said before");
        program.signal("TSTP");
        program.line("now QUIET");
        program.signal("CONT");
        client.job("say", "after").queue(queue).enqueue();
        program.line("said after");
        program.signal("TERM");
        assertEquals(0, program.exit());
    }

    @Test
    void whatStillRunsAtTheExitGoesBack() throws Exception {
        Program program = new Program("exit", queue);
        program.line("now RUNNING");
        String id = begun(program);
        program.process.getOutputStream().close();
        assertEquals(3, program.exit());
        comesBack(id);
    }

    @Test
    void aWorkerOutlivesMain() throws Exception {
        Program program = new Program("throw", queue);
        program.line("now RUNNING");
        program.process.getOutputStream().close();
        String id = begun(program, 1);
        eventually(() -> client.getJob(id).state().equals("completed"));
        assertFalse(program.process.waitFor(0, TimeUnit.SECONDS));
        program.signal("TERM");
        assertEquals(143, program.exit());
    }
}
