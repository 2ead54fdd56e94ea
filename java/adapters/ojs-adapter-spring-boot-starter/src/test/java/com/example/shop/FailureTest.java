package com.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSException;
import org.openjobspec.spring.OjsFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** An application that does not start says why in one sentence. */
class FailureTest {
    private final FailureAnalyzer analyzer = new OjsFailureAnalyzer();

    @Test
    void aWrongSettingIsNamed() {
        OJSException wrong = assertThrows(OJSException.class, () -> OJSClient.connect("localhost:8080"));
        Throwable bean = new IllegalStateException("a bean", new IllegalStateException("another", wrong));
        FailureAnalysis found = analyzer.analyze(bean);
        assertEquals(wrong.getMessage(), found.getDescription());
        assertTrue(found.getAction().contains("ojs."), found.getAction());
    }

    @Test
    void aMissingEngineIsNamed() {
        String message = "no /org/openjobspec/native/linux-x86_64/libojs.so on the class path";
        Throwable bean = new IllegalStateException("a bean", new UnsatisfiedLinkError(message));
        FailureAnalysis found = analyzer.analyze(bean);
        assertEquals(message, found.getDescription());
        assertTrue(found.getAction().contains("classifier"), found.getAction());
    }

    @Test
    void otherFailuresAreLeftToOthers() {
        assertNull(analyzer.analyze(new IllegalStateException("a bean", new UnsatisfiedLinkError("no libother.so"))));
    }

    @Test
    @SuppressWarnings("removal")
    void springFindsIt() {
        String name = OjsFailureAnalyzer.class.getName();
        assertTrue(SpringFactoriesLoader.loadFactoryNames(FailureAnalyzer.class, null).contains(name));
    }
}
