package org.openjobspec.spring;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import org.openjobspec.RequestContext;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Jobs enqueued during a request carry who, which request, which trace, which tenant and which language (framework adapters, section
 * 7.1). A bean of a subclass replaces it.
 */
public class OjsRequestFilter extends OncePerRequestFilter {
    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
        try (var scope = RequestContext.bind(RequestContext.ofRequest(request::getHeader, userId(request), tenantId(request)))) {
            chain.doFilter(request, response);
        }
    }

    /** Who asks: the name of the principal, null without one. */
    protected Object userId(HttpServletRequest request) {
        Principal principal = request.getUserPrincipal();
        return principal == null ? null : principal.getName();
    }

    /** Whose data it is; null takes the header {@code X-OJS-Tenant}. */
    protected Object tenantId(HttpServletRequest request) {
        return null;
    }

    /** The second half of an asynchronous request runs on another thread. */
    @Override
    protected boolean shouldNotFilterAsyncDispatch() {
        return false;
    }
}
