package org.openjobspec;

import java.util.ArrayList;
import java.util.List;

/**
 * Named layers around an enqueue or a handler. The first one added is the outermost. It may change until the first job.
 *
 * @param <L> {@link EnqueueMiddleware} or {@link ExecutionMiddleware}
 */
public final class MiddlewareChain<L> {
    private record Layer<L>(String name, L layer) {}

    // gen:java/enqueue_order.j2 (make gen; do not edit)
    /**
     * The layers around an enqueue whose order the specification fixes, outermost first ("Extension Interactions", section 14). Layers
     * with other names may stand anywhere.
     */
    static final List<String> ENQUEUE_ORDER = List.of("trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt");
    // gen:end

    private final List<Layer<L>> layers = new ArrayList<>();
    private final List<String> order;
    private boolean frozen;

    MiddlewareChain(List<String> order) {
        this.order = order;
    }

    /** Adds the innermost layer. */
    public MiddlewareChain<L> add(String name, L layer) {
        return insert(layers.size(), name, layer);
    }

    /** The same under a name of its own. */
    public MiddlewareChain<L> add(L layer) {
        String name = "middleware";
        for (int count = 2; names().contains(name); count++) name = "middleware-" + count;
        return add(name, layer);
    }

    /** Adds the outermost layer. */
    public MiddlewareChain<L> prepend(String name, L layer) {
        return insert(0, name, layer);
    }

    /** Adds a layer just outside another. */
    public MiddlewareChain<L> insertBefore(String existing, String name, L layer) {
        return insert(index(existing), name, layer);
    }

    /** Adds a layer just inside another. */
    public MiddlewareChain<L> insertAfter(String existing, String name, L layer) {
        return insert(index(existing) + 1, name, layer);
    }

    /** Takes a layer out. */
    public synchronized MiddlewareChain<L> remove(String name) {
        checkOpen();
        layers.remove(index(name));
        return this;
    }

    /** The names, outermost first. */
    public synchronized List<String> names() {
        return layers.stream().map(Layer::name).toList();
    }

    /** The layers, outermost first. The chain may not change from now on. */
    synchronized List<L> freeze() {
        frozen = true;
        return layers.stream().map(Layer::layer).toList();
    }

    private synchronized MiddlewareChain<L> insert(int index, String name, L layer) {
        checkOpen();
        if (name.isEmpty()) throw new OJSException.Middleware("a middleware needs a name");
        if (layer == null) throw new OJSException.Middleware("middleware '" + name + "' is null");
        if (names().contains(name)) throw new OJSException.Middleware("there is a middleware named '" + name + "' already; remove it first");
        checkOrder(index, name);
        layers.add(index, new Layer<>(name, layer));
        return this;
    }

    private void checkOrder(int index, String name) {
        int own = order.indexOf(name);
        if (own < 0) return;
        for (int at = 0; at < layers.size(); at++) {
            String other = layers.get(at).name();
            int its = order.indexOf(other);
            if (its < 0 || its < own == at < index) continue;
            throw new OJSException.Middleware("'" + name + "' must stand " + (its < own ? "after" : "before") + " '" + other + "': the order is "
                    + String.join(", ", order));
        }
    }

    private synchronized int index(String name) {
        int index = names().indexOf(name);
        if (index >= 0) return index;
        String there = layers.isEmpty() ? "none" : String.join(", ", names());
        throw new OJSException.Middleware("there is no middleware named '" + name + "'; there is: " + there);
    }

    private void checkOpen() {
        if (frozen) throw new OJSException.Middleware("the chain is in use: change middleware before the first job");
    }
}
