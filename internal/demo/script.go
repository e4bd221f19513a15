package demo

// reacted is one emoji by some people.
func reacted(emoji string, users ...string) map[string][]string {
	return map[string][]string{emoji: users}
}

// script is what people say while somebody looks. Whoever says something is a member of the group.
var script = []spoken{
	{group: launch, line: line{from: "zoe", body: "The store page shows the new pictures now.", reactions: reacted("👍", "mateo")}},
	{group: launch, line: line{from: "mateo", body: "40% of all walkers are on 2.0."}},
	{group: hike, line: line{from: "zoe", body: "The forecast for Saturday: sun until four, then clouds.", reactions: reacted("☀️", "wangwei", "amina")}},
	{group: launch, line: line{from: "amina", body: "وصلتنا ثلاثة أسئلة فقط منذ الصباح، وكلها عن الخرائط دون اتصال."}},
	{group: launch, line: line{from: "wangwei", body: "Good to hear. 服务器负载只有百分之三十。"}},
	{group: community, line: line{from: "hiker-00011", body: "The Arabic version is a joy to use. Thank you!", reactions: reacted("❤️", "amina", "mateo")}},
	{to: "alice", line: line{from: "zoe", body: "The table is booked, half past twelve."}},
	{group: support, line: line{from: "amina", label: "gpx", body: "A customer asks whether GPX files of other apps can be opened."}},
	{group: support, line: line{from: "mateo", reply: "gpx", body: "Yes, “Share”, then “Open in Trailmap”. Routes and tracks both work."}},
	{group: support, line: line{from: "amina", body: "Great, I'll tell them."}},
	{group: hike, line: line{from: "mateo", body: "The 08:12 train has a carriage for bikes, if anybody prefers to ride to the lake."}},
	{group: hike, line: line{from: "wangwei", body: "👍"}},
	{group: launch, line: line{from: "mateo", body: "60%, and the crash rate stays where it was.", reactions: reacted("🎉", "zoe", "amina", "wangwei")}},
	{group: design, line: line{from: "zoe", body: "I tried the elevation profile with *thinner* lines. It reads better on small screens."}},
	{group: design, line: line{from: "amina", body: "نعم، أوضح بكثير."}},
	{group: localization, line: line{from: "wangwei", body: "“下载区域”现在和设置页一致了。", reactions: reacted("✅", "amina")}},
	{group: localization, line: line{from: "amina", body: "شكرًا! بقي نصّان في شاشة الإعدادات، أنهيهما اليوم."}},
	{group: launch, line: line{from: "alice", body: "Lovely numbers. Thank you all!"}},
	{to: "alice", line: line{from: "wangwei", body: "The peak was 31,000 walkers at once, right on the forecast."}},
	{group: community, line: line{from: "hiker-00256", label: "widget", body: "Is there a widget for the next waypoint?"}},
	{group: community, line: line{from: "mateo", reply: "widget", body: "In 2.1. We are testing it on our own walks."}},
	{group: launch, line: line{from: "zoe", body: "> Maps appear twice as fast\n\nA reviewer wrote that today, in nearly these words.", reactions: reacted("😊", "wangwei", "mateo")}},
	{group: hike, line: line{from: "amina", body: "سأحضر الشاي والتمر للجميع.", reactions: reacted("🫖", "zoe", "mateo")}},
	{group: launch, line: line{from: "wangwei", body: "Replaced one tile server, nobody noticed:\n\n```sh\ntiles drain eu-west-3\ntiles replace eu-west-3 --wait\n```"}},
	{group: launch, line: line{from: "mateo", body: "80%. The last step is planned for tomorrow at nine."}},
	{group: support, line: line{from: "amina", label: "watch", body: "Does 2.0 run on watches?"}},
	{group: support, line: line{from: "zoe", reply: "watch", body: "The next turn and the compass do, the whole map doesn't yet."}},
	{group: community, line: line{from: "hiker-00099", body: "First walk with the new profile: it showed the steep part before my legs did."}},
	{group: design, line: line{from: "zoe", body: "Next on my desk: icons for huts and springs."}},
	{to: "alice", line: line{from: "mateo", body: "Shall we move the review to tomorrow morning?"}},
	{group: hike, line: line{from: "zoe", body: "Sandwiches: two with cheese, two with hummus, one surprise."}},
	{group: launch, line: line{from: "amina", body: "The store in Cairo features us this week.", reactions: reacted("🌟", "zoe", "wangwei", "mateo")}},
	{group: launch, line: line{from: "wangwei", body: "太好了！I'll keep the extra servers for another week."}},
	{group: localization, line: line{from: "amina", body: "أصبحت كل النصوص مترجمة: ٤١٢ من ٤١٢."}},
	{group: localization, line: line{from: "wangwei", body: "中文：412 / 412。"}},
	{group: launch, line: line{from: "zoe", body: "Time for a walk?"}},
	{group: launch, line: line{from: "mateo", body: "🥾", reactions: reacted("🥾", "amina", "wangwei")}},
}
