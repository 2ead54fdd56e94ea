import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import org.openjobspec.OJSClient;
import org.openjobspec.Outbox;

/** Migrates the outbox tables that its input names, see run.py. */
public class Migrate {
    public static void main(String[] arguments) throws Exception {
        URI place = URI.create(arguments[0]);
        String driver = place.getScheme().equals("mysql") ? "mariadb" : "postgresql";
        String[] login = place.getUserInfo().split(":", 2);
        String password = login.length < 2 ? "" : login[1];
        String address = "jdbc:" + driver + "://" + place.getHost() + ":" + place.getPort() + place.getPath();
        try (OJSClient client = OJSClient.connect("memory:");
                Connection connection = DriverManager.getConnection(address, login[0], password)) {
            System.out.println("ready");
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
            for (String table; (table = input.readLine()) != null; ) {
                new Outbox(client, table, false).migrate(connection);
                System.out.println("done");
            }
        }
    }
}
