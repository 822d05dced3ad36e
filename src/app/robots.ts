import type { MetadataRoute } from "next";

/** All other pages are personal. */
export default function robots(): MetadataRoute.Robots {
  return { rules: { userAgent: "*", allow: ["/$", "/sign-in", "/sign-up", "/api/docs"], disallow: "/" } };
}
