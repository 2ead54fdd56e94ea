/** Open Job Spec in Spring Boot: see {@link org.openjobspec.spring.OjsTemplate} and {@link org.openjobspec.spring.OjsHandler}. */
package org.openjobspec.spring;
