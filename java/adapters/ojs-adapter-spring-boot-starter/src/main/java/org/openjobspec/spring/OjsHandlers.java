package org.openjobspec.spring;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.openjobspec.JobContext;
import org.openjobspec.JobHandler;
import org.openjobspec.OJSWorker;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** The methods of all beans that have {@link OjsHandler}, by job type. */
public class OjsHandlers implements SmartInitializingSingleton {
    private final ListableBeanFactory beans;
    private final Map<String, JobHandler> handlers = new LinkedHashMap<>();

    OjsHandlers(ListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getBeanNamesForType(Object.class, false, false)) {
            Class<?> type = beans.getType(name);
            if (type == null) continue;
            Map<Method, OjsHandler> found = MethodIntrospector.selectMethods(ClassUtils.getUserClass(type),
                    (MethodIntrospector.MetadataLookup<OjsHandler>) method -> AnnotatedElementUtils.findMergedAnnotation(method, OjsHandler.class));
            found.forEach((method, about) -> add(about.value(), beans.getBean(name), method));
        }
    }

    private void add(String jobType, Object bean, Method method) {
        // The proxy's method, so that @Transactional and the like count.
        Method call = AopUtils.selectInvocableMethod(method, bean.getClass());
        call.setAccessible(true);
        Parameter[] parameters = method.getParameters();
        if (handlers.putIfAbsent(jobType, ctx -> invoke(bean, call, parameters, ctx)) != null) {
            throw new IllegalStateException("two methods have @OjsHandler(\"" + jobType + "\"); the second is " + method);
        }
    }

    private static Object invoke(Object bean, Method method, Parameter[] parameters, JobContext ctx) throws Exception {
        Object[] values = new Object[parameters.length];
        int next = 0;
        for (int i = 0; i < parameters.length; i++) {
            values[i] = parameters[i].getType() == JobContext.class ? ctx : ctx.arg(next++, parameters[i].getType());
        }
        try {
            return method.invoke(bean, values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception cause) throw cause;
            if (e.getCause() instanceof Error cause) throw cause;
            throw e;
        }
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return handlers.isEmpty();
    }

    /** Registers them all with a worker, for instance one of {@link org.openjobspec.OJSTesting}. */
    public void registerWith(OJSWorker worker) {
        handlers.forEach(worker::register);
    }
}
