package org.openjobspec;

import java.util.List;

/**
 * A handler with typed arguments: {@code TypedJobHandler.of(Welcome.class, (welcome, ctx) -> send(welcome.to()))}.
 *
 * @param <T> the type of the arguments
 */
@FunctionalInterface
public interface TypedJobHandler<T> {
    /** Runs once per attempt. */
    Object handle(T args, JobContext ctx) throws Exception;

    /** A handler of jobs whose only argument is a {@code T}: a record, text, a number. */
    static <T> JobHandler of(Class<T> type, TypedJobHandler<T> handler) {
        return of(type, Codec.RECORDS, handler);
    }

    /** The same with a JSON library of your own. */
    static <T> JobHandler of(Class<T> type, Codec codec, TypedJobHandler<T> handler) {
        if (type == null || codec == null || handler == null) {
            throw new OJSException.Validation("TypedJobHandler.of needs a type, a codec and a handler, got null");
        }
        return ctx -> {
            List<Object> args = ctx.args();
            if (args.size() != 1) throw new OJSException.Validation("the job has " + args.size() + " arguments and not one " + type.getSimpleName());
            return handler.handle(codec.read(Json.write(args.getFirst()), type), ctx);
        };
    }
}
