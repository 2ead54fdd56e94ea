package org.openjobspec.kotlin

import java.util.concurrent.Executor
import java.util.concurrent.ThreadFactory
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher

/**
 * The first JDK whose virtual threads give their processor away while they wait inside of `synchronized` (JEP 491): on
 * those before, a few such handlers would hold up all others.
 */
private const val UNPINNED = 24

/** Virtual threads, a new one for each time that a coroutine goes on; null on a JDK whose own are not for handlers. */
private val virtualThreads: CoroutineDispatcher? by lazy {
    if (Runtime.version().feature() < UNPINNED) return@lazy null
    // By reflection: the package is compiled for JDK 17.
    val builder = Thread::class.java.getMethod("ofVirtual").invoke(null)
    Class.forName("java.lang.Thread\$Builder\$OfVirtual")
        .getMethod("name", String::class.java, Long::class.java)
        .invoke(builder, "ojs-job-", 0L)
    val factory = Class.forName("java.lang.Thread\$Builder").getMethod("factory").invoke(builder) as ThreadFactory
    Executor { factory.newThread(it).start() }.asCoroutineDispatcher()
}

/** Where handlers run of which so many may block at a time. */
internal fun placeOfHandlers(concurrency: Int): CoroutineDispatcher =
    virtualThreads ?: Dispatchers.IO.limitedParallelism(concurrency)
