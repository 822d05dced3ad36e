"use client";

import { CircleAlert } from "lucide-react";
import { useEffect, useState } from "react";

/**
 * Says that the browser stores no cookies: signing in succeeds, and the next page has no session.
 */
export function CookiesBlocked({ text }: { text: string }) {
  const [isBlocked, setBlocked] = useState(false);
  useEffect(() => setBlocked(!storesCookies()), []);
  if (!isBlocked) return null;
  return (
    <p role="alert" className="flex items-start gap-1.5 text-bad">
      <CircleAlert aria-hidden="true" size={16} className="mt-1 shrink-0" />
      {text}
    </p>
  );
}

/** By trying: Chromium's `navigator.cookieEnabled` is true although cookies are blocked in its settings. */
function storesCookies(): boolean {
  // biome-ignore lint/suspicious/noDocumentCookie: over plain HTTP there is no other way.
  document.cookie = "tollgate-cookies=1; SameSite=Lax";
  const isStored = document.cookie.includes("tollgate-cookies=1");
  // biome-ignore lint/suspicious/noDocumentCookie: as above.
  document.cookie = "tollgate-cookies=; SameSite=Lax; Max-Age=0";
  return isStored;
}
