vcl 4.1;
# Varnish in front of Catalog, which runs with TRUST_PROXY=true. Start varnishd with `-p http_gzip_support=off`: Catalog
# compresses responses itself, and Varnish weakens the entity tags of those that it compresses or decompresses. Also use
# `-p backend_idle_timeout=25`, below the 30 seconds after which Catalog closes an idle connection.
backend catalog {
  .host = "127.0.0.1";
  .port = "3000";
}

sub vcl_recv {
  # Replaces the values that clients send, instead of appending to them.
  set req.http.X-Forwarded-For = client.ip;
  set req.http.X-Forwarded-Host = req.http.Host;
  set req.http.X-Forwarded-Proto = "http";
  # Bun closes the connection for other methods without a response.
  if (req.method !~ "^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$") {
    return (synth(501));
  }
  # These responses are for one caller, and count towards a quota: they must not be cached for others.
  if (req.url ~ "^/v1/" || req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
}
