package org.openjobspec.serverless;

/** The function of the tests. The functions framework makes an object of it. */
public final class GoogleFunction extends GoogleHandler {
    /** With the server of the tests. */
    public GoogleFunction() {
        super(PushHandler.builder().ojsUrl(Jobs.SERVER).signingSecrets(PushTest.SECRET));
        register("email.send", ctx -> "sent to " + ctx.args().getFirst());
        register("email.fail", _ -> {
            throw new IllegalStateException("SMTP connection refused");
        });
    }
}
