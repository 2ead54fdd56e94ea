package org.openjobspec;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Where a relay finds a database that it reads by itself: what JDBC's URLs say, as the core's. */
final class DatabaseUrl {
    private static final List<String> POSTGRESQL = List.of("postgresql://", "postgres://");
    private static final List<String> MYSQL = List.of("mysql://", "mariadb://");
    /** What one driver or the other calls the modes of MySQL. */
    private static final Map<String, String> SSL_MODES = Map.of("disable", "DISABLED", "trust", "REQUIRED", "verify-full", "VERIFY_IDENTITY");
    /** What MariaDB's driver shows in place of a password. */
    private static final String HIDDEN = "***";

    private DatabaseUrl() {}

    static boolean isPostgresql(String url) {
        return POSTGRESQL.stream().anyMatch(url::startsWith);
    }

    static boolean isMysql(String url) {
        return MYSQL.stream().anyMatch(url::startsWith);
    }

    static boolean isJdbc(String url) {
        return List.of("jdbc:postgresql:", "jdbc:mysql:", "jdbc:mariadb:").stream().anyMatch(url::startsWith);
    }

    /** The core's URL for JDBC's; one that is the core's already stays as it is. */
    static String of(String url, String user, String password) {
        if (isPostgresql(url) || isMysql(url)) return url;
        if (!isJdbc(url)) {
            throw new OJSException.Validation("not a URL of JDBC's for PostgreSQL, MySQL or MariaDB: it begins with jdbc:postgresql:, jdbc:mysql: or jdbc:mariadb:");
        }
        String rest = url.substring("jdbc:".length());
        return rest.startsWith("postgresql:") ? postgresql(rest, user, password) : mysql(rest, user, password);
    }

    private static String postgresql(String rest, String user, String password) {
        if (!rest.startsWith("postgresql://")) rest = "postgresql://localhost/" + rest.substring("postgresql:".length()).replaceFirst("^/", "");
        URI parsed = parsed(rest);
        Map<String, String> given = parameters(parsed);
        StringJoiner kept = new StringJoiner("&", "?", "").setEmptyValue("");
        for (String name : List.of("sslmode", "sslrootcert")) if (given.containsKey(name)) kept.add(name + "=" + given.get(name));
        String place = parsed.getRawAuthority() == null ? "localhost" : parsed.getRawAuthority();
        return "postgresql://" + login(given, user, password) + place + parsed.getRawPath() + kept;
    }

    private static String mysql(String rest, String user, String password) {
        // An empty authority is this machine, as drivers have it.
        URI parsed = parsed(rest.replaceFirst(":///", "://localhost/"));
        if (parsed.getHost() == null) {
            throw new OJSException.Validation("the relay reads one server, and this URL does not name just one: give it as mysql://user:password@host/database");
        }
        Map<String, String> given = parameters(parsed);
        if (parsed.getRawUserInfo() != null) {
            String[] login = parsed.getRawUserInfo().split(":", 2);
            given.putIfAbsent("user", login[0]);
            if (login.length > 1) given.putIfAbsent("password", login[1]);
        }
        String port = parsed.getPort() < 0 ? "" : ":" + parsed.getPort();
        StringJoiner kept = new StringJoiner("&", "?", "").setEmptyValue("");
        String mode = sslMode(given, rest.startsWith("mariadb:"));
        if (mode != null) kept.add("ssl-mode=" + mode);
        String authority = given.get("serverSslCert");
        if (authority != null && authority.startsWith("/")) kept.add("ssl-ca=" + authority);
        return "mysql://" + login(given, user, password) + parsed.getHost() + port + parsed.getRawPath() + kept;
    }

    /** Says what is wrong without the URL, which may hold a password. */
    private static URI parsed(String url) {
        try {
            return new URI(url);
        } catch (URISyntaxException e) {
            throw new OJSException.Validation("the URL of the database cannot be read: " + e.getReason() + " at character " + e.getIndex()
                    + "; write %XX for characters that URLs have no place for");
        }
    }

    /** MariaDB's driver means an identity that is verified when it is told to encrypt, MySQL's does not. */
    private static String sslMode(Map<String, String> given, boolean mariadb) {
        String mode = given.get("sslMode");
        if (mode != null) return SSL_MODES.getOrDefault(mode.toLowerCase(Locale.ROOT), mode.toUpperCase(Locale.ROOT).replace('-', '_'));
        String wanted = given.getOrDefault("useSSL", given.get("useSsl"));
        if (wanted == null) return null;
        return !Boolean.parseBoolean(wanted) ? "DISABLED" : mariadb ? "VERIFY_IDENTITY" : "REQUIRED";
    }

    /** As they are written. */
    private static Map<String, String> parameters(URI url) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String parameter : url.getRawQuery() == null ? new String[0] : url.getRawQuery().split("&")) {
            String[] pair = parameter.split("=", 2);
            found.put(pair[0], pair.length < 2 ? "" : pair[1]);
        }
        return found;
    }

    private static String login(Map<String, String> given, String user, String password) {
        String name = user == null ? decoded(given.get("user")) : user;
        String secret = password == null ? decoded(given.get("password")) : password;
        if (password == null && HIDDEN.equals(secret)) {
            throw new OJSException.Validation("the data source does not tell its password, which the relay needs: give it the URL, user and password of the database");
        }
        return name == null ? "" : encoded(name) + (secret == null ? "" : ":" + encoded(secret)) + "@";
    }

    private static String decoded(String text) {
        return text == null ? null : URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
