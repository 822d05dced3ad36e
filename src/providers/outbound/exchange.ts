export type Exchange = { status: number; text: string; retryAfter: string | null; location: string | null };

export class ResponseTooLarge extends Error {
  override name = "ResponseTooLarge";
}

/**
 * One request with its whole response. Redirects are not followed: they would send the key elsewhere.
 * @throws ResponseTooLarge, and what `fetch` throws
 */
export async function exchange(
  url: string,
  init: { method: string; headers: Record<string, string>; body: string | undefined },
  { withinMs, maxBytes }: { withinMs: number; maxBytes: number },
): Promise<Exchange> {
  const response = await fetch(url, {
    method: init.method,
    headers: init.headers,
    redirect: "manual",
    signal: AbortSignal.timeout(withinMs),
    ...(init.body === undefined ? {} : { body: init.body }),
  });
  return {
    status: response.status,
    text: await readText(response, maxBytes),
    retryAfter: response.headers.get("retry-after"),
    location: response.headers.get("location"),
  };
}

async function readText({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > maxBytes) throw new ResponseTooLarge(`more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
