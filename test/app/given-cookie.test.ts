import { describe, expect, it } from "vitest";
import { givenCookie } from "../../src/app/gate/given-cookie.ts";

describe("a cookie of Better Auth's, handed on", () => {
  it("keeps its value, which is encoded once more on the way out", () => {
    const text =
      "__Secure-better-auth.session_token=abc.d%2Be%3D%3D; Max-Age=604800; Path=/; HttpOnly; Secure; SameSite=Lax";
    expect(givenCookie(text)).toEqual({
      name: "__Secure-better-auth.session_token",
      value: "abc.d+e==",
      path: "/",
      httpOnly: true,
      secure: true,
      sameSite: "lax",
      maxAge: 604_800,
    });
  });

  it("lasts until the browser is closed when it says nothing else", () => {
    const { maxAge, ...rest } = givenCookie("token=1; Path=/; HttpOnly; SameSite=Lax");
    expect(maxAge).toBeUndefined();
    expect(rest.secure).toBe(false);
  });

  it("is taken back by an age of nothing", () => {
    expect(givenCookie("token=; Max-Age=0; Path=/")).toMatchObject({ name: "token", value: "", maxAge: 0 });
  });

  it("keeps every = of its value", () => {
    expect(givenCookie("token=a=b==; Path=/api/auth")).toMatchObject({ value: "a=b==", path: "/api/auth" });
  });

  it("is read whatever the case and the spaces of its attributes", () => {
    expect(givenCookie("token=1;path=/x;  HTTPONLY;secure ; samesite=Strict;max-age=5")).toEqual({
      name: "token",
      value: "1",
      path: "/x",
      httpOnly: true,
      secure: true,
      sameSite: "strict",
      maxAge: 5,
    });
  });

  it("is for the whole site, and lax, when it does not say", () => {
    expect(givenCookie("token=1")).toEqual({
      name: "token",
      value: "1",
      path: "/",
      httpOnly: false,
      secure: false,
      sameSite: "lax",
    });
  });
});
