import { buffer } from "node:stream/consumers";
import { cleanedUp } from "../support/cleanup.ts";
import { sendRequest, startHttpServer } from "../support/http.ts";

/**
 * An endpoint that refuses the first delivery, as an overloaded server does, and passes all others on.
 * @returns its URL, with the paths of the server
 */
export async function overloadedOnce(serverUrl: string): Promise<string> {
  let isOverloaded = true;
  const { url, close } = await startHttpServer(async (incoming, response) => {
    const body = await buffer(incoming);
    if (isOverloaded) {
      isOverloaded = false;
      response.writeHead(503).end();
      return;
    }
    const { host: _, connection: __, "content-length": ___, ...headers } = incoming.headers;
    const { status, text } = await sendRequest(serverUrl, "POST", incoming.url as string, { headers, body });
    response.writeHead(status).end(text);
  });
  cleanedUp(close);
  return url;
}
