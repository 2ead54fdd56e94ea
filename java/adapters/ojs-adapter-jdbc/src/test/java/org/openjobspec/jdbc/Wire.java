package org.openjobspec.jdbc;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

/** Passes requests on to a server, and remembers which they were. The starter's tests use it too. */
public final class Wire implements AutoCloseable {
    /** Methods and paths, in the order of their arrival. */
    public final List<String> seen = new CopyOnWriteArrayList<>();
    private final HttpServer listener;
    private final HttpClient http = HttpClient.newHttpClient();
    private final String server;

    /** In front of the server at this URL. */
    public Wire(String server) throws IOException {
        this.server = server;
        listener = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        listener.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        listener.createContext("/", this::pass);
        listener.start();
    }

    /** Where it listens. */
    public String url() {
        return "http://127.0.0.1:" + listener.getAddress().getPort();
    }

    private void pass(HttpExchange exchange) throws IOException {
        seen.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath());
        HttpRequest request = HttpRequest.newBuilder(URI.create(server + exchange.getRequestURI())).header("content-type", "application/openjobspec+json")
                .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes())).build();
        try (exchange) {
            HttpResponse<byte[]> answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
            exchange.getResponseHeaders().set("content-type", "application/openjobspec+json");
            exchange.sendResponseHeaders(answer.statusCode(), answer.body().length == 0 ? -1 : answer.body().length);
            exchange.getResponseBody().write(answer.body());
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        listener.stop(0);
        http.close();
    }
}
