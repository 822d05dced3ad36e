/** `id`: of the last event so far, or where the stream begins; empty: the server has not said. */
export type ServerSentEvent = { id: string; data: string | null };

/**
 * The events of a `text/event-stream`, as the HTML standard parses it, and comments, which have no data: they
 * show that the connection lives.
 */
export async function* serverSentEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let unparsed = "";
  let id = "";
  let data: string[] = [];
  for await (const chunk of chunks) {
    unparsed += decoder.decode(chunk, { stream: true });
    const lines = unparsed.split(/\r\n|\n|\r(?!$)/);
    unparsed = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        yield { id, data: data.length > 0 ? data.join("\n") : null };
        data = [];
        continue;
      }
      const [field, value] = fieldOf(line);
      if (field === "data") data.push(value);
      else if (field === "id") id = value;
    }
  }
}

/** A comment has an empty name. */
function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  if (colon === -1) return [line, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}
