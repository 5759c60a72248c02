vcl 4.1;
# Varnish before Catalog, which runs with TRUST_PROXY=true. Start varnishd with `-p http_gzip_support=off`: Catalog
# compresses by itself, and Varnish makes the entity tags weak of what it compresses or unpacks; and with
# `-p backend_idle_timeout=25`, below the 30 seconds after which Catalog closes an idle connection.
backend catalog {
  .host = "127.0.0.1";
  .port = "3000";
}

sub vcl_recv {
  # Set, not added to: what clients have sent in them is dropped.
  set req.http.X-Forwarded-For = client.ip;
  set req.http.X-Forwarded-Host = req.http.Host;
  set req.http.X-Forwarded-Proto = "http";
  # Bun closes the connection for other methods without a response.
  if (req.method !~ "^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$") {
    return (synth(501));
  }
  # Answered for one caller only, and counted: nothing of it may be given to another.
  if (req.url ~ "^/v1/" || req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
}
