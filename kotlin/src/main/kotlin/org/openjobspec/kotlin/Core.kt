package org.openjobspec.kotlin

import java.nio.ByteBuffer
import org.openjobspec.kotlin.core.CoreException
import org.openjobspec.kotlin.core.InternalException
import org.openjobspec.kotlin.core.environment
import org.openjobspec.kotlin.core.refuse

/**
 * The native library: every call goes through [call], which turns its errors into exceptions of this package.
 */
internal object Core {
    inline fun <T> call(body: () -> T): T = try {
        body()
    } catch (e: CoreException.Failed) {
        throw exception(e)
    } catch (e: InternalException) {
        throw OjsException.Internal("internal error: ${e.message}. This is a bug in OJS; please report it", e)
    }

    fun exception(e: CoreException.Failed): OjsException {
        val about = membersOf(plain(parsed(e.about)))
        return OjsException.of(e.number, about.text("message").orEmpty(), OjsException.About.of(about))
    }

    /** The error that an answer means which is not 2xx; with a status of 0 that of one item of an answer about many. */
    fun refusal(status: Int, body: String): OjsException = try {
        refuse(status.toUShort(), direct(body))
        OjsException.Internal("an answer of $status is no error")
    } catch (e: CoreException.Failed) {
        exception(e)
    }
}

/** Bytes that the core reads in place: outside of the heap, where nothing moves them. */
internal fun direct(bytes: ByteArray): ByteBuffer =
    ByteBuffer.allocateDirect(bytes.size.coerceAtLeast(1)).put(bytes).flip()

internal fun direct(text: String): ByteBuffer = direct(text.encodeToByteArray())

/** What the environment says, read by the core. */
internal object Environment {
    fun read(): Map<String, Any?> = of(System.getenv().filterKeys { it.startsWith("OJS_") })

    fun of(variables: Map<String, String>): Map<String, Any?> =
        Core.call { membersOf(plain(parsed(environment(jsonText(variables))))) }
}
