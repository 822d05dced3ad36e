import type { MetadataRoute } from "next";

/** Everything but these is about somebody. */
export default function robots(): MetadataRoute.Robots {
  return { rules: { userAgent: "*", allow: ["/$", "/sign-in", "/sign-up", "/api/docs"], disallow: "/" } };
}
