import { createServer } from "node:http";

/**
 * Serves a peer's webhook handler at `PORT`, at any path, until SIGTERM.
 * @param receive takes the body's bytes and the signature; what it throws is answered with 500
 */
export function serveWebhooks(receive, close) {
  const server = createServer((request, response) => {
    if (request.url === "/api/ready") return answer(response, 200, { status: "ready" });
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", async () => {
      try {
        await receive(Buffer.concat(chunks), request.headers["stripe-signature"]);
        answer(response, 200, { received: true });
      } catch (error) {
        process.stderr.write(`${error.stack}\n`);
        answer(response, 500, { error: error.message });
      }
    });
  });

  function answer(response, status, body) {
    const text = JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", "content-length": text.length });
    response.end(text);
  }

  server.listen(Number(process.env.PORT), "127.0.0.1");

  process.on("SIGTERM", () => {
    server.closeAllConnections();
    server.close(async () => {
      await close();
      process.exit(0);
    });
  });
}
