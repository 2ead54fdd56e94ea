package bench;

import java.util.Map;
import org.openjobspec.spring.OjsTemplate;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.SimpleJdbcInsert;
import org.springframework.transaction.annotation.Transactional;

/** Spring Boot: a {@code @Transactional} method with one row, without and with {@code enqueueAfterCommit}. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import(Spring.Signup.class)
public class Spring {
    /** The service of the starter's README. */
    public static class Signup {
        private final SimpleJdbcInsert users;
        private final OjsTemplate ojs;

        public Signup(JdbcTemplate database, OjsTemplate ojs) {
            users = new SimpleJdbcInsert(database).withTableName("users").usingColumns("email").usingGeneratedKeyColumns("id");
            this.ojs = ojs;
        }

        @Transactional
        public long signup(String email, boolean staged) {
            long user = users.executeAndReturnKey(Map.of("email", email)).longValue();
            if (staged) ojs.enqueueAfterCommit("email.welcome", user);
            return user;
        }
    }

    public static void main(String[] args) throws Exception {
        Turns turns = new Turns(args);
        String[] properties = {
            "spring.datasource.url=" + turns.jdbcUrl(), "spring.datasource.hikari.maximum-pool-size=1", "spring.main.banner-mode=off",
            "ojs.url=" + Turns.SERVER, "ojs.outbox.migrate=true", "ojs.outbox.relay=false", "ojs.outbox.same-database=false", "ojs.worker.enabled=false",
        };
        try (var context = new SpringApplicationBuilder(Spring.class).web(WebApplicationType.NONE).properties(properties).run()) {
            JdbcTemplate database = context.getBean(JdbcTemplate.class);
            database.execute("CREATE TABLE users (id bigserial PRIMARY KEY, email text)");
            Signup signup = context.getBean(Signup.class);
            turns.each(staged -> signup.signup("ada@example.com", staged));
            turns.report("Spring Boot", database.queryForObject("SELECT count(*) FROM ojs_outbox", Long.class));
        }
    }
}
