//! Addresses that may hold secrets: what is printed of a URL or a DSN has no password in it.
//!
//! Every message, log line and `Debug` that names a database or a server goes through here. Hiding too much makes a message less
//! useful; hiding too little publishes a password: where a text can be read in two ways, the one that hides more counts.
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// What is shown in the place of a secret.
pub const HIDDEN: &str = "***";

/// Parts of a parameter's name that say that its value is a secret.
const SECRET_NAMES: &[&str] = &["pass", "pwd", "secret", "token", "key", "auth", "cred", "sig", "jwt"];

/// The URL or DSN of a database or a server. `Display` and `Debug` show it without its secrets; [`expose`](Self::expose) gives it whole,
/// for those who connect.
///
/// ```
/// use ojs_model::redact::SecretUrl;
/// let url = SecretUrl::from("postgres://app:hunter2@db/jobs?sslmode=require");
/// assert_eq!(url.to_string(), "postgres://app:***@db/jobs?sslmode=require");
/// assert_eq!(format!("{url:?}"), "\"postgres://app:***@db/jobs?sslmode=require\"");
/// assert!(url.expose().contains("hunter2"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct SecretUrl(String);

impl SecretUrl {
    /// The whole text, with its secrets: to connect, never to print.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A message of other code (a driver, a parser) about this URL, without the URL's secrets: the URL is shown as
    /// `Display` shows it, and its password, as written or decoded, as `***`.
    ///
    /// ```
    /// use ojs_model::redact::SecretUrl;
    /// let url = SecretUrl::from("mysql://app:hunter2@db/shop");
    /// assert_eq!(url.scrub("no host in 'mysql://app:hunter2@db/shop'"), "no host in 'mysql://app:***@db/shop'");
    /// assert_eq!(url.scrub("'hunter2@db' is no host"), "'***@db' is no host");
    /// ```
    #[must_use]
    pub fn scrub(&self, message: &str) -> String {
        let mut out = message.to_owned();
        if !self.0.is_empty() {
            out = out.replace(&self.0, &self.to_string());
        }
        for secret in secrets(&self.0) {
            let decoded = percent_decoded(&secret);
            // A parser that met a sign of its own in the password quotes what stands before or behind it.
            let parts = secret.split(['@', ':', '/', '?', '#', '&', '=', '%']);
            for form in [secret.as_str(), decoded.as_str()].into_iter().chain(parts) {
                // A word of one or two letters would be found in every sentence.
                if form.len() > 2 {
                    out = out.replace(form, HIDDEN);
                }
            }
        }
        out
    }
}

impl From<&str> for SecretUrl {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for SecretUrl {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl FromStr for SecretUrl {
    type Err = Infallible;

    /// Takes every text: whether it is a URL is for those to say who connect.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&url(&self.0))
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&url(&self.0), f)
    }
}

/// A URL or DSN as it may be printed: scheme, user, host and path as they are, `***` for the password and for the values of
/// parameters that sound secret. Takes every text; what holds no secret comes back unchanged.
///
/// ```
/// use ojs_model::redact::url;
/// assert_eq!(url("postgres://app:hunter2@db:5432/jobs"), "postgres://app:***@db:5432/jobs");
/// assert_eq!(url("https://jobs.example.com/?token=abc&limit=5"), "https://jobs.example.com/?token=***&limit=5");
/// assert_eq!(url("host=db user=app password=hunter2"), "host=db user=app password=***");
/// assert_eq!(url("sqlite:/var/lib/ojs/jobs.db"), "sqlite:/var/lib/ojs/jobs.db");
/// ```
#[must_use]
pub fn url(text: &str) -> String {
    pieces(text).into_iter().map(|piece| if piece.secret { HIDDEN } else { piece.text }).collect()
}

/// The secrets of a text, as they stand there.
fn secrets(text: &str) -> Vec<String> {
    pieces(text).into_iter().filter(|piece| piece.secret).map(|piece| piece.text.to_owned()).collect()
}

/// A part of a text.
struct Piece<'a> {
    text: &'a str,
    secret: bool,
}

/// A text in its order, each part marked.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    // A URL as the value of a parameter (`direct=postgres://…`) is a URL of its own, to the end of the text.
    let (own, nested) = text.split_at(nested_url(text).unwrap_or(text.len()));
    match own.find("://") {
        Some(at) => {
            let (scheme, rest) = own.split_at(at + "://".len());
            shown(&mut out, scheme);
            authority(rest, &mut out);
        }
        // A file's name may hold any sign.
        None if ["sqlite:", "file:", "memory:"].iter().any(|scheme| own.starts_with(scheme)) => parameters(own, &mut out),
        // `oracle:jobs`
        None if !own.contains('@') => parameters(own, &mut out),
        None => authority(own, &mut out),
    }
    if !nested.is_empty() {
        out.extend(pieces(nested));
    }
    out
}

/// Where a URL begins that is the value of a parameter.
fn nested_url(text: &str) -> Option<usize> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    text.match_indices("://").skip(1).find_map(|(at, _)| {
        let before = text.get(..at)?.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c));
        let name = before.strip_suffix('=')?.trim_end_matches(is_name);
        name.ends_with(['?', '&', ' ']).then_some(before.len())
    })
}

/// `user:password@host…`: passwords that were not encoded may hold `/`, `?`, `#` and `@` themselves, so the last `@` of the text ends them.
fn authority<'a>(rest: &'a str, out: &mut Vec<Piece<'a>>) {
    let Some((user, from)) = rest.split_once(':') else { return parameters(rest, out) };
    // `host=db options=a:b password=…` has no user in front.
    if user.contains([' ', '=']) {
        return parameters(rest, out);
    }
    let Some(at) = from.rfind('@') else {
        return if is_port(from) || rest.starts_with('[') || is_ipv6(rest) {
            parameters(rest, out)
        } else {
            // `postgres://app:hunter2`: the host is missing.
            shown(out, rest.get(..=user.len()).unwrap_or(rest));
            let end = from.find(['/', '?']).unwrap_or(from.len());
            let (secret, path) = from.split_at(end);
            hidden(out, secret);
            parameters(path, out);
        };
    };
    // `http://jobs:8080/path?by=a@b`: the port of a host, and no user at all. Hidden all the same: a password may begin like that.
    let (secret, host) = from.split_at(at);
    shown(out, rest.get(..=user.len()).unwrap_or(rest));
    hidden(out, secret);
    parameters(host, out);
}

/// `8080`, `8080/path`, nothing.
fn is_port(text: &str) -> bool {
    let end = text.find(['/', '?', '#', ',']).unwrap_or(text.len());
    text.get(..end).is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `::1`, `fe80::1:8080/path`: an address that lacks its brackets.
fn is_ipv6(text: &str) -> bool {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let address = text.get(..end).unwrap_or_default();
    address.matches(':').count() > 1 && address.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':')
}

/// What follows the host: the values of parameters that sound secret are hidden, in a query as in `name=value` pairs of a DSN.
fn parameters<'a>(text: &'a str, out: &mut Vec<Piece<'a>>) {
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        let (before, value) = rest.split_at(at + 1);
        shown(out, before);
        let name = before.trim_end_matches(['=', ' ']);
        let name = name.rsplit(['?', '&', ';', ' ', '/']).next().unwrap_or(name).to_ascii_lowercase();
        let secret = SECRET_NAMES.iter().any(|part| name.contains(part));
        let end = value_end(value, secret);
        let (value, behind) = value.split_at(end);
        if secret || value.contains('@') || value.contains("%40") {
            hidden(out, value)
        } else {
            shown(out, value)
        }
        rest = behind;
    }
    shown(out, rest);
}

/// Where a value ends. One in quotation marks ends with them.
fn value_end(value: &str, secret: bool) -> usize {
    let lead = value.len() - value.trim_start_matches(' ').len();
    let body = value.get(lead..).unwrap_or_default();
    if let Some(mark) = body.chars().next().filter(|first| secret && matches!(first, '\'' | '"')) {
        let mut escaped = false;
        for (at, sign) in body.char_indices().skip(1) {
            match sign {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                sign if sign == mark => return lead + at + 1,
                _ => {}
            }
        }
        return value.len();
    }
    body.find(['&', ';', ' ']).map_or(value.len(), |end| lead + end)
}

fn shown<'a>(out: &mut Vec<Piece<'a>>, text: &'a str) {
    if !text.is_empty() {
        out.push(Piece { text, secret: false });
    }
}

fn hidden<'a>(out: &mut Vec<Piece<'a>>, text: &'a str) {
    if !text.is_empty() {
        out.push(Piece { text, secret: true });
    }
}

/// `%40` as `@`. Text that is not UTF-8 afterwards stays as it was.
fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_however_the_address_is_written() {
        for (given, shown) in [
            ("postgres://app:s3cr3t@db:5432/jobs", "postgres://app:***@db:5432/jobs"),
            ("postgres://app@db/jobs", "postgres://app@db/jobs"),
            ("postgres://db/jobs", "postgres://db/jobs"),
            ("postgres://:s3cr3t@db/jobs", "postgres://:***@db/jobs"),
            // A wrong scheme, a slash too few, no host, a host only.
            ("mongodb://app:s3cr3t@db", "mongodb://app:***@db"),
            ("postgres:/app:s3cr3t@db/jobs", "postgres:***@db/jobs"),
            ("postgres:app:s3cr3t@db/jobs", "postgres:***@db/jobs"),
            ("app:s3cr3t@tcp(db:3306)/jobs", "app:***@tcp(db:3306)/jobs"),
            ("postgres://app:s3cr3t", "postgres://app:***"),
            ("postgres://app:s3cr3t/jobs", "postgres://app:***/jobs"),
            // Signs that should have been encoded.
            ("postgres://app:s3@cr3t@db/jobs", "postgres://app:***@db/jobs"),
            ("postgres://app:s3/cr3t@db/jobs", "postgres://app:***@db/jobs"),
            ("postgres://app:s3?cr3t@db/jobs", "postgres://app:***@db/jobs"),
            ("postgres://app:s3#cr:3t@db/jobs", "postgres://app:***@db/jobs"),
            ("postgres://app:1234@db/jobs", "postgres://app:***@db/jobs"),
            ("postgres://app:12/s3cr3t@db/jobs", "postgres://app:***@db/jobs"),
            // Parameters.
            ("postgres://db/jobs?user=app&password=s3cr3t", "postgres://db/jobs?user=app&password=***"),
            ("jdbc:postgresql://db/jobs?user=app&password=s3cr3t", "jdbc:postgresql://db/jobs?user=app&password=***"),
            ("https://jobs.example/?access_token=s3cr3t#x", "https://jobs.example/?access_token=***"),
            ("postgres://a:s3cr3t@b/c?direct=postgres://d:t0ps@e/f", "postgres://a:***@b/c?direct=postgres://d:***@e/f"),
            ("postgres://b/c?pooler=auto&direct=postgres://d:t0ps@e/f", "postgres://b/c?pooler=auto&direct=postgres://d:***@e/f"),
            // The other form of a DSN.
            ("host=db password=s3cr3t user=app", "host=db password=*** user=app"),
            ("host=db password = 's3 cr\\'3t' user=app", "host=db password =*** user=app"),
            ("Server=db;Password=s3cr3t;User=app", "Server=db;Password=***;User=app"),
            ("password='s3cr3t", "password=***"),
        ] {
            assert_eq!(url(given), shown, "{given}");
            assert_eq!(format!("{:?}", SecretUrl::from(given)), format!("{shown:?}"));
        }
    }

    #[test]
    fn an_address_without_a_secret_is_shown_as_it_is() {
        for text in [
            "",
            "memory:",
            "sqlite:jobs.db",
            "sqlite:/var/lib/a:b@c.db?durability=relaxed",
            "http://127.0.0.1:8080",
            "http://[::1]:8080/ojs",
            "http://::1:8080/ojs",
            "https://jobs.example.com/base/path",
            "postgres://app@a:5432,b:5433/jobs?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            "nonsense",
            "oracle:jobs",
        ] {
            assert_eq!(url(text), text);
        }
    }

    #[test]
    fn a_message_of_other_code_is_scrubbed() {
        let secret = SecretUrl::from("postgres://app:p%40ss%2Fword@db/jobs");
        assert_eq!(secret.scrub("invalid password: p@ss/word"), "invalid password: ***");
        assert_eq!(secret.scrub("in postgres://app:p%40ss%2Fword@db/jobs"), "in postgres://app:***@db/jobs");
        assert_eq!(SecretUrl::default().scrub("as it was"), "as it was");
    }
}
