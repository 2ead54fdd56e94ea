package org.openjobspec.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean that does jobs of a type. Its parameters are the job's arguments, in their order, as numbers, texts, lists, maps or
 * records; one may be the {@link org.openjobspec.JobContext}. What it returns is the result, what it throws is the failure.
 *
 * {@snippet :
 * @OjsHandler("email.welcome")
 * void welcome(long user, JobContext ctx) { … }
 * }
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface OjsHandler {
    /** The job type; {@code *} stands for every other type. */
    String value();
}
