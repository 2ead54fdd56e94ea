package com.example.shop;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import org.openjobspec.JobContext;
import org.openjobspec.JobRequest;
import org.openjobspec.spring.OjsHandler;
import org.openjobspec.spring.OjsTemplate;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

/** An application around the example of the README. */
@SpringBootApplication
public class ShopApplication {
    /** Stands for authentication: the user is whom the header X-User names. */
    @Bean
    FilterRegistrationBean<OncePerRequestFilter> authentication() {
        FilterRegistrationBean<OncePerRequestFilter> registration = new FilterRegistrationBean<>(new OncePerRequestFilter() {
            @Override
            protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
                String user = request.getHeader("X-User");
                chain.doFilter(new HttpServletRequestWrapper(request) {
                    @Override
                    public Principal getUserPrincipal() {
                        return user == null ? null : () -> user;
                    }
                }, response);
            }
        });
        registration.setOrder(-100); // Spring Security's
        return registration;
    }

    @RestController
    static class Site {
        private final Signup signup;
        private final OjsTemplate ojs;

        Site(Signup signup, OjsTemplate ojs) {
            this.signup = signup;
            this.ojs = ojs;
        }

        @PostMapping(path = "/signup", produces = "text/plain")
        String signup(@RequestParam("email") String email) {
            return Long.toString(signup.signup(email));
        }

        @PostMapping("/broken")
        @Transactional
        public String broken(@RequestParam("email") String email) {
            signup.signup(email);
            throw new IllegalStateException("after the job was enqueued");
        }

        @PostMapping(path = "/first", produces = "text/plain")
        @Transactional
        public String first() {
            return ojs.enqueueAfterCommit("step.first").id();
        }
    }

    /** A handler that enqueues: what it enqueues belongs to the same request. */
    @Bean
    Steps steps(OjsTemplate ojs) {
        return new Steps(ojs);
    }

    /** Two steps. */
    public static class Steps {
        private final OjsTemplate ojs;

        Steps(OjsTemplate ojs) {
            this.ojs = ojs;
        }

        @OjsHandler("step.first")
        @Transactional
        public String first(JobContext ctx) {
            return ojs.enqueueAfterCommit(JobRequest.of("step.second", ctx.id()).queue("nobody")).id();
        }

        @OjsHandler("step.fails")
        @Transactional
        public void fails() {
            ojs.enqueueAfterCommit(JobRequest.of("step.second").queue("nobody"));
            throw new IllegalStateException("after the job was enqueued");
        }
    }
}
