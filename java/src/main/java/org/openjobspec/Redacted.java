package org.openjobspec;

/** URLs as they may be shown: in logs, in errors, in a debugger. */
final class Redacted {
    private Redacted() {}

    /** Without user, password and parameters, any of which may hold a secret. */
    static String url(String url) {
        int place = url.indexOf("://");
        String shown = url.split("[?#]", 2)[0];
        int at = shown.lastIndexOf('@');
        return place < 0 || at < place ? shown : shown.substring(0, place + 3) + "***" + shown.substring(at);
    }
}
