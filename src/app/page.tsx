export default function LandingPage() {
  return <main id="content">Tollgate</main>;
}
