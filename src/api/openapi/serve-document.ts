import type { Handler } from "hono";
import { type Asset, answerAsset, createAsset } from "../../http/asset.ts";
import type { HonoEnv } from "../../http/hono-env.ts";
import { type DocumentOptions, openApiDocument } from "./document.ts";

const MAX_AGE_SECONDS = 300;

/**
 * Serves the document of the requested version. Each is made on demand: that takes longer than the rest of
 * the start.
 */
export function serveDocument(options: Omit<DocumentOptions, "version">): Handler<HonoEnv> {
  const documents = new Map<string, Promise<Asset>>();
  return async (c) => {
    const version = c.get("apiVersion");
    const document = documents.get(version) ?? createDocument({ ...options, version });
    documents.set(version, document);
    return answerAsset(c, await document, { maxAgeSeconds: MAX_AGE_SECONDS });
  };
}

function createDocument(options: DocumentOptions): Promise<Asset> {
  const text = JSON.stringify(openApiDocument(options));
  return createAsset("application/json", new TextEncoder().encode(text));
}
